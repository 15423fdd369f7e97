import { ServiceError } from '@model-gateway/contracts';
import { RequestError, type Requests, type Subscription } from '@model-gateway/kernel';
import { z } from 'zod';

/** What is asked of whichever process holds the connection of a node. */
const commandSchema = z.discriminatedUnion('kind', [
  /** Answered when the deployment has begun. */
  z.object({ kind: z.literal('deploy'), modelId: z.string(), streamId: z.string() }),
  /** Answered when the model is gone. */
  z.object({ kind: z.literal('stop'), modelId: z.string() }),
  /** The connection is to be closed. */
  z.object({ kind: z.literal('leave'), why: z.enum(['replaced', 'deregistered']) }),
]);
export type AgentCommand = z.output<typeof commandSchema>;

const answerSchema = z.object({
  /** What the caller is told when it cannot be done. */
  refusal: z.string().optional(),
});
export type AgentCommandAnswer = z.output<typeof answerSchema>;

/** Reaches the connections of nodes, in whichever process they are. */
export interface AgentCommands {
  /** Answers the commands to one connection. */
  serve(
    connectionId: string,
    answer: (command: AgentCommand) => Promise<AgentCommandAnswer>,
  ): Promise<Subscription>;
  /** Rejects with `agent_unavailable` when it cannot be done; `AgentUnreachable` says that nothing was begun. */
  send(connectionId: string, command: AgentCommand): Promise<void>;
}

/** Nobody holds the connection any more. */
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
      : 'the agent could not be asked';
  return new ServiceError('agent_unavailable', message, { cause: error });
}
