import type { Kind } from '../matrix/kinds.ts';
import { anthropicApi } from '../matrix/upstreams/anthropic-api.ts';
import { chatApi } from '../matrix/upstreams/chat-api.ts';
import { geminiApi } from '../matrix/upstreams/gemini-api.ts';
import { localApi } from '../matrix/upstreams/local-api.ts';
import type { UpstreamApi } from '../matrix/upstreams/upstream.ts';
import type { WireResponse } from '../matrix/upstreams/wire-server.ts';
import { GREETING } from './wire-scene.ts';

/** The kinds that have a protocol of their own over HTTP. */
export const FAULTY_KINDS = ['external', 'anthropic', 'gemini', 'local-server'] as const;
export type FaultyKind = (typeof FAULTY_KINDS)[number] & Kind;

const APIS: Readonly<Record<FaultyKind, UpstreamApi>> = {
  external: chatApi,
  anthropic: anthropicApi,
  gemini: geminiApi,
  'local-server': localApi,
};

const WHY = 'the model crashed';
/** An error in the middle of a stream. */
const LATE_ERRORS: Readonly<Record<FaultyKind, string>> = {
  external: `data: {"error":{"message":"${WHY}","type":"server_error","code":"crashed"}}\n\n`,
  anthropic: `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"${WHY}"}}\n\n`,
  gemini: `data: {"error":{"code":500,"message":"${WHY}","status":"INTERNAL"}}\n\n`,
  'local-server': `{"error":"${WHY}"}\n`,
};

/** A response that is not what a client hopes for. */
export interface Fault {
  readonly name: string;
  readonly stream: boolean;
  readonly response: (kind: FaultyKind) => WireResponse;
}

/** With at least one piece of text, and without the end. */
const BEGUN_PARTS: Readonly<Record<FaultyKind, number>> = {
  external: 2,
  anthropic: 4,
  gemini: 2,
  'local-server': 3,
};

const whole = (kind: FaultyKind): string => JSON.stringify(APIS[kind].whole(GREETING));
const begun = (kind: FaultyKind): { readonly type: string; readonly text: string } => {
  const { type, text } = APIS[kind].stream(GREETING);
  const end = kind === 'local-server' ? '\n' : '\n\n';
  const parts = text.split(end);
  return { type, text: parts.slice(0, BEGUN_PARTS[kind]).join(end) + end };
};
/** A stream that has begun, and does not go on. */
export const unfinished = (kind: FaultyKind): WireResponse => ({
  status: 200,
  ...begun(kind),
  ending: 'none',
});
const refused = (status: number, message: string) => (kind: FaultyKind) => ({
  status,
  type: 'application/json',
  text: JSON.stringify(APIS[kind].error(status, message)),
});
const json = { status: 200, type: 'application/json' };
const both = (name: string, response: Fault['response']): readonly Fault[] =>
  [false, true].map((stream) => ({ name, stream, response }));

export const FAULTS: readonly Fault[] = [
  {
    name: 'cut in the middle',
    stream: true,
    response: (kind) => ({ status: 200, ...begun(kind), ending: 'cut' }),
  },
  {
    name: 'ended without an end',
    stream: true,
    response: (kind) => ({ status: 200, ...begun(kind) }),
  },
  {
    name: 'a late error',
    stream: true,
    response: (kind) => {
      const { type, text } = begun(kind);
      return { status: 200, type, text: text + LATE_ERRORS[kind] };
    },
  },
  {
    name: 'an error before any text',
    stream: true,
    response: (kind) => ({ status: 200, type: begun(kind).type, text: LATE_ERRORS[kind] }),
  },
  {
    name: 'a whole answer to a streamed request',
    stream: true,
    response: (kind) => ({ ...json, text: whole(kind) }),
  },
  {
    name: 'cut in the middle',
    stream: false,
    response: (kind) => ({ ...json, text: whole(kind).slice(0, 40), ending: 'cut' }),
  },
  {
    name: 'half of the JSON',
    stream: false,
    response: (kind) => ({ ...json, text: whole(kind).slice(0, 40) }),
  },
  ...both('an empty body', () => ({ ...json, text: '' })),
  ...both('a page', () => ({ status: 200, type: 'text/html', text: '<h1>Welcome</h1>' })),
  ...both('a page of a balancer', () => ({
    status: 503,
    type: 'text/html',
    text: '<h1>Service Unavailable</h1>',
  })),
  ...both('400', refused(400, 'the field is wrong')),
  ...both('400: too long', refused(400, "This model's maximum context length is 8 tokens.")),
  ...both('401', refused(401, 'your key is wrong')),
  ...both('404', refused(404, 'there is no such model')),
  ...both('422', refused(422, 'not like this')),
  ...both('429', refused(429, 'slow down')),
  ...both('500', refused(500, WHY)),
  ...both('529', refused(529, 'overloaded')),
];
