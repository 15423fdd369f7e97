import {
  compact,
  elementSources,
  isNestedTooDeeply,
  memberSource,
  tryParseJson,
  withWrittenNumbers,
  yieldToEventLoop,
} from '@model-gateway/kernel';
import { contractOf } from './contract-of.ts';

/** A parsed request object. */
export interface Message {
  /** The id of the response, as JSON text: see `echoId`. */
  readonly id: string;
  /** Undefined for a value that is not a request. */
  readonly call: { readonly method: string; readonly params: unknown } | undefined;
}

/** The parsed text of a message. */
export type Parsed =
  | { readonly kind: 'invalid' }
  /** A batch without elements or with too many. */
  | { readonly kind: 'invalid-request' }
  | { readonly kind: 'single'; readonly message: Message }
  | { readonly kind: 'batch'; readonly messages: readonly Message[] };

const INVALID: Message = { id: 'null', call: undefined };
const BATCH_REQUESTS_MAX = 1000;
/** A larger text is parsed in steps, between which the process serves other requests. */
const ONE_STEP_CHARS_MAX = 64 * 1024;
/** A longer number takes long to convert. */
const NUMBER_CHARS_MAX = 64;
/** Every response repeats the id, so it is bounded like an error. */
const ID_CHARS_MAX = 1024;
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

/** Parses one request or a batch. */
export async function parseMessages(text: string): Promise<Parsed> {
  const value = tryParseJson(text);
  if (text.length > ONE_STEP_CHARS_MAX) await yieldToEventLoop();
  const parsed = readMessages(value, text);
  if (text.length > ONE_STEP_CHARS_MAX) await yieldToEventLoop();
  return parsed;
}

function readMessages(value: unknown, text: string): Parsed {
  if (value === undefined) return { kind: isNestedTooDeeply(text) ? 'invalid-request' : 'invalid' };
  if (!Array.isArray(value)) return { kind: 'single', message: readMessage(value, text) };
  const elements: readonly unknown[] = value;
  if (elements.length === 0 || elements.length > BATCH_REQUESTS_MAX)
    return { kind: 'invalid-request' };
  const sources = elementSources(text);
  return {
    kind: 'batch',
    messages: elements.map((element, index) => readMessage(element, sources[index] ?? '')),
  };
}

/**
 * The id of a response, with the type and digits of the request id: null, strings and whole numbers within 64 bits are
 * unchanged; anything else becomes a string of its JSON.
 */
export function echoId(source: string | undefined): string {
  if (source === undefined || source === 'null' || source.startsWith('"')) return source ?? 'null';
  if (/^-?\d+$/.test(source)) {
    const value = BigInt(source);
    if (value >= I64_MIN && value <= I64_MAX) return source;
  }
  return JSON.stringify(compact(source));
}

function readMessage(value: unknown, source: string): Message {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return INVALID;
  const idSource = memberSource(source, 'id');
  if (isTooLong(idSource)) return INVALID;
  const id = echoId(idSource);
  const { jsonrpc, method, params } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isParams(params))
    return { id, call: undefined };
  if (contractOf(method)?.passesParams !== true)
    return { id, call: { method, params: params ?? {} } };
  const exact = withWrittenNumbers(value, source) as { readonly params?: unknown } | undefined;
  return { id, call: exact && { method, params: exact.params ?? {} } };
}

function isTooLong(id: string | undefined): boolean {
  if (id === undefined) return false;
  return id.length > (/^[-\d]/.test(id) ? NUMBER_CHARS_MAX : ID_CHARS_MAX);
}

// JSON-RPC allows an array of params, this service does not: it is refused later, as invalid params.
function isParams(params: unknown): boolean {
  return params === undefined || typeof params === 'object';
}
