import type { AppContext } from '@model-gateway/server-process';
import {
  createAgentCommands,
  createAgents,
  createBackendAnnouncer,
  createDeployNotices,
  type Agents,
} from '@model-gateway/router';

const SECOND_MS = 1_000;

/** The logic of `agents.*`, with the stores of this process. */
export function createAgentRules(
  { agentTimeoutSecs }: { readonly agentTimeoutSecs: number },
  { database, bus, clock, log }: AppContext,
): Agents {
  const { channels, entries, circuits, requests } = bus;
  return createAgents({
    store: database.agents,
    commands: createAgentCommands(requests),
    announcer: createBackendAnnouncer({ channels, entries, circuits, clock, log }),
    notices: createDeployNotices({ channels, log }),
    clock,
    log,
    timeoutMs: agentTimeoutSecs * SECOND_MS,
  });
}
