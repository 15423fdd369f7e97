import { cleanMessage } from '@model-gateway/backends';
import { tryParseJson } from '@model-gateway/kernel';
import {
  AGENT_METHODS,
  anyObject,
  agentHeartbeatSchema,
  agentHelloSchema,
  agentProgressSchema,
  type AgentHeartbeat,
  type AgentHello,
  type AgentProgress,
} from '@model-gateway/contracts';
import { serializeMessage, RPC_ERRORS } from '@model-gateway/json-rpc';
import { z } from 'zod';

/** The meaning of a frame of a node. */
export type ParsedFrame =
  | { readonly kind: 'hello'; readonly id: RequestId; readonly hello: AgentHello }
  | { readonly kind: 'heartbeat'; readonly heartbeat: AgentHeartbeat; readonly reply?: string }
  | { readonly kind: 'progress'; readonly progress: AgentProgress; readonly reply?: string }
  | { readonly kind: 'response'; readonly id: number; readonly outcome: AgentResponse }
  | FrameRefusal;

/** A frame that is not accepted. */
export interface FrameRefusal {
  readonly kind: 'refused';
  /** One of a few texts, so that each is logged once. */
  readonly why: string;
  /** The response to the node. */
  readonly reply?: string;
  /** The connection must be closed. */
  readonly isFatal: boolean;
}

/** The response of a node to a call. */
export type AgentResponse =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly message: string };

type RequestId = string | number;

/** The protocol rules of one connection, without sockets or stores. */
export interface AgentProtocol {
  receive(text: string): ParsedFrame;
}

interface AgentProtocolOptions {
  readonly agentId: string;
  /** Whether this connection has such a deployment in progress. */
  readonly isDeploying: (streamId: string, modelId: string) => boolean;
}

const REFUSED_MAX = 100;
const RESPONSE_MESSAGE_CHARS_MAX = 500;

const requestId = z.union([z.string(), z.number()]);
const messageSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: requestId.nullish(),
  method: z.string().optional(),
  params: anyObject().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string().catch('failed') }).optional(),
});
type Message = z.output<typeof messageSchema>;

export function createAgentProtocol({ agentId, isDeploying }: AgentProtocolOptions): AgentProtocol {
  let hasHello = false;
  let refused = 0;

  function refuse(why: string, options: RefusalOptions = {}): FrameRefusal {
    refused += 1;
    const { id, code = RPC_ERRORS.invalidRequest, isFatal = false } = options;
    return {
      kind: 'refused',
      why,
      // After too many invalid frames the connection is closed.
      isFatal: isFatal || refused >= REFUSED_MAX,
      ...(id === undefined
        ? {}
        : { reply: serializeMessage({ id, error: { code, message: `refused: ${why}` } }) }),
    };
  }

  function helloOf({ id, params }: Message): ParsedFrame {
    if (id === undefined || id === null) return refuse('hello without an id', { isFatal: true });
    const hello = agentHelloSchema.safeParse(params ?? {});
    if (!hello.success) {
      const why = `invalid hello: ${firstIssue(hello.error)}`;
      return refuse(why, { id, code: RPC_ERRORS.invalidParams, isFatal: true });
    }
    hasHello = true;
    return { kind: 'hello', id, hello: hello.data };
  }

  function progressOf({ id, params }: Message): ParsedFrame {
    const options = { id: id ?? undefined, code: RPC_ERRORS.invalidParams };
    const progress = agentProgressSchema.safeParse(params);
    if (!progress.success) return refuse('invalid progress', options);
    if (!isDeploying(progress.data.stream_id, progress.data.model_id))
      return refuse('progress of an unknown deployment', options);
    const { message } = progress.data;
    const cleaned = message === undefined ? {} : { message: cleanMessage(message, null) };
    return { kind: 'progress', progress: { ...progress.data, ...cleaned }, ...confirmation(id) };
  }

  function heartbeatOf({ id, params }: Message): ParsedFrame {
    const heartbeat = agentHeartbeatSchema.safeParse(params ?? {});
    return heartbeat.success
      ? { kind: 'heartbeat', heartbeat: heartbeat.data, ...confirmation(id) }
      : refuse('invalid heartbeat', { id: id ?? undefined, code: RPC_ERRORS.invalidParams });
  }

  function requestOf(message: Message, method: string): ParsedFrame {
    const { id, params } = message;
    const named = params?.['agent_id'];
    if (named !== undefined && named !== agentId)
      return refuse('wrong agent_id', { id: id ?? undefined, isFatal: true });
    if (method === AGENT_METHODS.hello)
      return hasHello ? refuse('second hello', { id: id ?? undefined }) : helloOf(message);
    if (!hasHello) return refuse('frame before the hello', { id: id ?? undefined, isFatal: true });
    if (method === AGENT_METHODS.heartbeat) return heartbeatOf(message);
    if (method === AGENT_METHODS.progress) return progressOf(message);
    return refuse('unknown method', { id: id ?? undefined, code: RPC_ERRORS.methodNotFound });
  }

  function responseOf({ id, result, error }: Message): ParsedFrame {
    if (!hasHello) return refuse('frame before the hello', { isFatal: true });
    if (typeof id !== 'number') return refuse('response to an unknown call');
    const outcome: AgentResponse =
      error === undefined
        ? { ok: true, result }
        : {
            ok: false,
            message: cleanMessage(error.message.slice(0, RESPONSE_MESSAGE_CHARS_MAX), null),
          };
    return { kind: 'response', id, outcome };
  }

  return {
    receive(text) {
      const parsed = tryParseJson(text);
      if (parsed === undefined)
        return refuse('the frame is not valid JSON', {
          id: null,
          code: RPC_ERRORS.parse,
          isFatal: true,
        });
      const message = messageSchema.safeParse(parsed);
      if (!message.success)
        return refuse('the frame is not JSON-RPC 2.0', { id: null, isFatal: true });
      const { method } = message.data;
      return method === undefined ? responseOf(message.data) : requestOf(message.data, method);
    },
  };
}

/** A notification needs no response; a node that sends an id gets one. */
const confirmation = (id: Message['id']): { readonly reply?: string } =>
  id === undefined || id === null ? {} : { reply: serializeMessage({ id, result: { ok: true } }) };

interface RefusalOptions {
  /** The id of the error response; null where it is unknown, undefined where no response is sent. */
  readonly id?: RequestId | null | undefined;
  readonly code?: number;
  readonly isFatal?: boolean;
}

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? 'invalid' : `${issue.path.join('.')}: ${issue.message}`;
}
