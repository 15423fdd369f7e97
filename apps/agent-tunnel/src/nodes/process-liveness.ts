import { describeError, type Log, type Requests, type Subscription } from '@model-gateway/kernel';
import { serveTunnelProcess, type AgentConnections } from '@model-gateway/router';

/** Shows the other processes that this one runs, in the database and on the channels: nodes go offline when neither does. */
export interface ProcessLiveness {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface ProcessLivenessDependencies {
  readonly processId: string;
  readonly connections: Pick<AgentConnections, 'renewProcess' | 'removeProcess'>;
  readonly requests: Pick<Requests, 'serve'>;
  readonly log: Log;
}

const RENEW_MS = 1_000;

export function createProcessLiveness(dependencies: ProcessLivenessDependencies): ProcessLiveness {
  const { processId, connections, requests, log } = dependencies;
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;
  let renewing: Promise<void> | undefined;
  let isFailing = false;

  async function renew(): Promise<void> {
    try {
      await connections.renewProcess(processId);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ reason: describeError(error) }, 'renewing the process failed');
      isFailing = true;
    }
  }

  return {
    async start() {
      subscription = await serveTunnelProcess(requests, processId);
      await connections.renewProcess(processId);
      timer = setInterval(() => {
        renewing ??= renew().finally(() => {
          renewing = undefined;
        });
      }, RENEW_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await renewing;
      await connections.removeProcess(processId).catch((error: unknown) => {
        log.debug({ reason: describeError(error) }, 'removing the process failed');
      });
      await subscription?.close();
    },
  };
}
