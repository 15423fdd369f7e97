import { ServiceError } from '@model-gateway/contracts';
import { RequestError, type Requests, type Subscription } from '@model-gateway/kernel';
import { z } from 'zod';

/** A command to the process that holds the connection of a node. */
const commandSchema = z.discriminatedUnion('kind', [
  /** The reply is sent when the deployment has begun. */
  z.object({ kind: z.literal('deploy'), modelId: z.string(), streamId: z.string() }),
  /** The reply is sent when the model is removed. */
  z.object({ kind: z.literal('stop'), modelId: z.string() }),
  /** The connection is to be closed. */
  z.object({ kind: z.literal('leave'), why: z.enum(['replaced', 'deregistered']) }),
]);
export type AgentCommand = z.output<typeof commandSchema>;

const answerSchema = z.object({
  /** The error for the caller. */
  refusal: z.string().optional(),
});
export type AgentCommandAnswer = z.output<typeof answerSchema>;

/** Sends commands to the connections of nodes, in any process. */
export interface AgentCommands {
  /** Executes the commands to one connection. */
  serve(
    connectionId: string,
    answer: (command: AgentCommand) => Promise<AgentCommandAnswer>,
  ): Promise<Subscription>;
  /** Rejects with `agent_unavailable` when it cannot be done; `AgentUnreachable` means that nothing was begun. */
  send(connectionId: string, command: AgentCommand): Promise<void>;
}

/** No process has the connection any more. */
export class AgentUnreachable extends ServiceError {
  constructor() {
    super('agent_unavailable', 'the agent is offline');
  }
}

const TIMEOUTS_MS = { deploy: 10_000, stop: 60_000, leave: 2_000 } as const satisfies Record<
  AgentCommand['kind'],
  number
>;

export function createAgentCommands(requests: Requests): AgentCommands {
  return {
    serve: (connectionId, answer) =>
      requests.serve(addressOf(connectionId), (payload) => answer(commandSchema.parse(payload))),
    async send(connectionId, command) {
      const timeout = { timeoutMs: TIMEOUTS_MS[command.kind] };
      let answer: AgentCommandAnswer;
      try {
        answer = answerSchema.parse(await requests.call(addressOf(connectionId), command, timeout));
      } catch (error) {
        throw failureOf(error);
      }
      if (answer.refusal !== undefined) throw new ServiceError('agent_unavailable', answer.refusal);
    },
  };
}

const addressOf = (connectionId: string): string => `agent:${connectionId}`;

function failureOf(error: unknown): unknown {
  if (!(error instanceof RequestError)) return error;
  if (error.reason === 'unreachable') return new AgentUnreachable();
  const message =
    error.reason === 'timeout'
      ? 'the agent did not answer in time'
      : 'the agent could not be reached';
  return new ServiceError('agent_unavailable', message, { cause: error });
}
