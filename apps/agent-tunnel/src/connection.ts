import {
  AGENT_METHODS,
  agentHeartbeatSchema,
  agentHelloSchema,
  agentProgressSchema,
  type AgentHeartbeat,
  type AgentHello,
  type AgentProgress,
} from '@model-gateway/contracts';
import { z } from 'zod';

/** What a frame of a node means. */
export type Reaction =
  | { readonly kind: 'hello'; readonly id: RequestId; readonly hello: AgentHello }
  | { readonly kind: 'heartbeat'; readonly heartbeat: AgentHeartbeat; readonly reply?: string }
  | { readonly kind: 'progress'; readonly progress: AgentProgress; readonly reply?: string }
  | { readonly kind: 'answer'; readonly id: number; readonly outcome: Outcome }
  | Refusal;

/** A frame that is not accepted. */
export interface Refusal {
  readonly kind: 'refused';
  /** One of a few texts, so that each is logged once. */
  readonly why: string;
  /** What the node is answered. */
  readonly reply?: string;
  /** The connection cannot go on. */
  readonly isFatal: boolean;
}

/** What a node answered to a call. */
export type Outcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly message: string };

type RequestId = string | number;

/** The rules of one connection: what may be said when. It knows neither sockets nor stores. */
export interface Connection {
  receive(text: string): Reaction;
}

interface ConnectionOptions {
  readonly agentId: string;
  /** Whether a deployment of this connection is under way. */
  readonly isDeploying: (streamId: string, modelId: string) => boolean;
}

const REFUSED_MAX = 100;
const ANSWER_MESSAGE_CHARS_MAX = 500;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const PARSE_ERROR = -32_700;

const requestId = z.union([z.string(), z.number()]);
const messageSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: requestId.nullish(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string().catch('failed') }).optional(),
});
type Message = z.output<typeof messageSchema>;

export function createConnection({ agentId, isDeploying }: ConnectionOptions): Connection {
  let isGreeted = false;
  let refused = 0;

  function refuse(why: string, options: RefusalOptions = {}): Refusal {
    refused += 1;
    const { id, code = INVALID_REQUEST, isFatal = false } = options;
    return {
      kind: 'refused',
      why,
      // Whoever says nothing right for so long is not worth listening to.
      isFatal: isFatal || refused >= REFUSED_MAX,
      ...(id === undefined ? {} : { reply: errorText(id, code, why) }),
    };
  }

  function greet({ id, params }: Message): Reaction {
    if (id === undefined || id === null) return refuse('a hello without an id', { isFatal: true });
    const hello = agentHelloSchema.safeParse(params ?? {});
    if (!hello.success) {
      const why = `an invalid hello: ${firstIssue(hello.error)}`;
      return refuse(why, { id, code: INVALID_PARAMS, isFatal: true });
    }
    isGreeted = true;
    return { kind: 'hello', id, hello: hello.data };
  }

  function progressOf({ id, params }: Message): Reaction {
    const whom = { id: id ?? undefined, code: INVALID_PARAMS };
    const progress = agentProgressSchema.safeParse(params);
    if (!progress.success) return refuse('an invalid progress', whom);
    if (!isDeploying(progress.data.stream_id, progress.data.model_id))
      return refuse('the progress of a deployment that is not its own', whom);
    return { kind: 'progress', progress: progress.data, ...confirmation(id) };
  }

  function heartbeatOf({ id, params }: Message): Reaction {
    const heartbeat = agentHeartbeatSchema.safeParse(params ?? {});
    return heartbeat.success
      ? { kind: 'heartbeat', heartbeat: heartbeat.data, ...confirmation(id) }
      : refuse('an invalid heartbeat', { id: id ?? undefined, code: INVALID_PARAMS });
  }

  function said(message: Message, method: string): Reaction {
    const { id, params } = message;
    const named = params?.['agent_id'];
    if (named !== undefined && named !== agentId)
      return refuse('the name of another agent', { id: id ?? undefined, isFatal: true });
    if (method === AGENT_METHODS.hello)
      return isGreeted ? refuse('a second hello', { id: id ?? undefined }) : greet(message);
    if (!isGreeted)
      return refuse('a frame before the hello', { id: id ?? undefined, isFatal: true });
    if (method === AGENT_METHODS.heartbeat) return heartbeatOf(message);
    if (method === AGENT_METHODS.progress) return progressOf(message);
    return refuse('an unknown method', { id: id ?? undefined, code: METHOD_NOT_FOUND });
  }

  function answered({ id, result, error }: Message): Reaction {
    if (!isGreeted) return refuse('a frame before the hello', { isFatal: true });
    if (typeof id !== 'number') return refuse('an answer to nothing');
    const outcome: Outcome =
      error === undefined
        ? { ok: true, result }
        : { ok: false, message: error.message.slice(0, ANSWER_MESSAGE_CHARS_MAX) };
    return { kind: 'answer', id, outcome };
  }

  return {
    receive(text) {
      const parsed = parseJson(text);
      if (parsed === undefined)
        return refuse('a frame that is not JSON', { id: null, code: PARSE_ERROR, isFatal: true });
      const message = messageSchema.safeParse(parsed.value);
      if (!message.success)
        return refuse('a frame that is not JSON-RPC 2.0', { id: null, isFatal: true });
      const { method } = message.data;
      return method === undefined ? answered(message.data) : said(message.data, method);
    },
  };
}

/** What is told for information needs no answer; a node that asks for one gets it. */
const confirmation = (id: Message['id']): { readonly reply?: string } =>
  id === undefined || id === null
    ? {}
    : { reply: JSON.stringify({ jsonrpc: '2.0', id, result: { ok: true } }) };

interface RefusalOptions {
  /** Whom to answer; null where it cannot be read, undefined where nothing is to be answered. */
  readonly id?: RequestId | null | undefined;
  readonly code?: number;
  readonly isFatal?: boolean;
}

function errorText(id: RequestId | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: `refused: ${message}` } });
}

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? 'it cannot be read' : `${issue.path.join('.')}: ${issue.message}`;
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
