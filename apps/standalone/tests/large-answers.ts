import { fullSize, fullTable } from '@model-gateway/testkit';
import { fields, list } from './json-text.ts';
import type { ScriptedAnswer } from './scripted-answers.ts';

const MEBIBYTE = 1024 * 1024;
/** The size of the largest texts, in MiB. */
const LARGE = fullSize(30, { small: 6 });
const CHAT = '/v1/chat/completions';
const EMBED = '/v1/embeddings';
const MESSAGE = '{"role":"user","content":"x"}';

const USAGE = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
const answered = (message: string, more = `,${USAGE}`): string =>
  `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":${message},"finish_reason":"stop"}]${more}}`;
const replied = (content: string): string =>
  `{"role":"assistant","content":${JSON.stringify(content)}}`;
const called = (count: number): string =>
  `{"role":"assistant","content":null,"tool_calls":${list(count, '{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}')}}`;
const calledWith = (argumentText: string): string =>
  `{"role":"assistant","content":${JSON.stringify('a b '.repeat(2_000))},"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(argumentText)}}}]}`;
const likely = (count: number): string =>
  list(count, `{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":${TOP_LOGPROBS}}`);
const TOP_LOGPROBS = list(20, '{"token":"a","logprob":-0.5,"bytes":[97]}');
const vectors = (count: number, dimensions: number): string =>
  `{"object":"list","model":"m","data":${list(count, `{"index":0,"embedding":${list(dimensions, '0.0123456789')}}`)},"usage":{"prompt_tokens":1,"total_tokens":1}}`;
const event = (delta: string): string =>
  `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":null}]}\n\n`;
const ENDING =
  'data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** Answers of the Responses API. */
const responded = (output: string): string =>
  `{"id":"r","object":"response","created_at":1,"status":"completed","model":"m","output":${output},"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`;
const said = (text: string): string =>
  `[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":${JSON.stringify(text)}}]}]`;
const responseEvent = (type: string, more: string): string =>
  `data: {"type":"response.${type}",${more}}\n\n`;
const responseEvents = (more: string): string =>
  responseEvent('created', `"response":${responded('[]')}`) +
  responseEvent('output_text.delta', `"output_index":0,${more}`) +
  responseEvent('completed', `"response":${responded('[]')}`);

const json = (body: string): ScriptedAnswer => ({ type: 'application/json', body });
const events = (body: string): ScriptedAnswer => ({ type: 'text/event-stream', body });
const ASK = `{"model":"scripted","messages":[${MESSAGE}]}`;
const ASK_STREAM = `{"model":"scripted","stream":true,"messages":[${MESSAGE}]}`;
const ASK_LOCAL = `{"model":"scripted-local","messages":[${MESSAGE}]}`;
const ASK_LOCAL_STREAM = `{"model":"scripted-local","stream":true,"messages":[${MESSAGE}]}`;
const RESPOND = '/v1/responses';
const ASK_RESPONSE = '{"model":"scripted","input":"x","store":false}';
const ASK_RESPONSE_STREAM = '{"model":"scripted","input":"x","store":false,"stream":true}';
/** A refusal is shorter than this, every other answer longer. */
export const REFUSAL_BYTES_MAX = 4 * 1024;
/** How many texts are embedded, and how many vectors an answer has. */
const EMBEDDED = fullSize(1_500, { small: 150 });
const askVectors = (model: string): string =>
  `{"model":"${model}","input":${list(EMBEDDED, '"x"')}}`;

/** A request, and what the upstream answers; an engine answers by itself. */
export interface LargeAnswer {
  readonly what: string;
  readonly path: string;
  readonly request: string;
  readonly answer?: () => ScriptedAnswer;
  /** Whether the client gets a 502, or an error in the stream, and not the answer. */
  readonly isRefused: boolean;
}

/** One answer of every surface and of every kind. */
const USUAL: readonly LargeAnswer[] = [
  {
    what: 'a long text',
    path: CHAT,
    request: ASK,
    answer: () => json(answered(replied('a b '.repeat((LARGE / 4) * MEBIBYTE)))),
    isRefused: false,
  },
  {
    what: 'a text of 70 MB',
    path: CHAT,
    request: ASK,
    answer: () => json(answered(replied('a'.repeat(70_000_000)))),
    isRefused: true,
  },
  {
    what: 'a text that does not end',
    path: CHAT,
    request: ASK,
    answer: () => json('"'.padEnd(LARGE * MEBIBYTE, '\\')),
    isRefused: true,
  },
  {
    what: 'many tool calls',
    path: CHAT,
    request: ASK,
    answer: () => json(answered(called(fullSize(60_000, { small: 30_000 })))),
    isRefused: false,
  },
  {
    what: 'arguments with many values, over the Messages API',
    path: '/v1/messages',
    request: `{"model":"scripted","max_tokens":9,"messages":[${MESSAGE}]}`,
    answer: () => json(answered(calledWith(list((LARGE / 3) * MEBIBYTE, '{}')))),
    isRefused: false,
  },
  {
    what: 'a whole answer instead of a stream',
    path: CHAT,
    request: ASK_STREAM,
    answer: () => json(answered(replied('a b '.repeat(MEBIBYTE)))),
    isRefused: false,
  },
  {
    what: 'an event of 30 MB',
    path: CHAT,
    request: ASK_STREAM,
    answer: () => events(event(`{"content":"${'a'.repeat(30_000_000)}"}`) + ENDING),
    isRefused: true,
  },
  {
    what: 'a long text over the Responses API',
    path: RESPOND,
    request: ASK_RESPONSE,
    answer: () => json(responded(said('a b '.repeat((LARGE / 4) * MEBIBYTE)))),
    isRefused: false,
  },
  {
    what: '500,000 items over the Responses API',
    path: RESPOND,
    request: ASK_RESPONSE,
    answer: () => json(responded(list(500_000, '{"type":"message","content":[]}'))),
    isRefused: true,
  },
  {
    what: 'a long text to complete',
    path: '/v1/completions',
    request: '{"model":"scripted","prompt":"x"}',
    answer: () =>
      json(`{"choices":[{"text":${JSON.stringify('a b '.repeat((LARGE / 4) * MEBIBYTE))}}]}`),
    isRefused: false,
  },
  {
    what: 'many ranked documents',
    path: '/v1/rerank',
    request: '{"model":"scripted","query":"x","documents":["a"]}',
    answer: () =>
      json(
        `{"results":${list(fullSize(600_000, { small: 100_000 }), '{"index":0,"relevance_score":0.5}')}}`,
      ),
    isRefused: false,
  },
  {
    what: 'many vectors',
    path: EMBED,
    request: askVectors('scripted'),
    answer: () => json(vectors(EMBEDDED, 1_536)),
    isRefused: false,
  },
  {
    what: 'many vectors in one frame of an engine',
    path: EMBED,
    request: askVectors('demo-engine'),
    isRefused: false,
  },
  {
    what: 'many tool calls of a local server',
    path: CHAT,
    request: ASK_LOCAL,
    answer: () => json(`{"message":${called(100_000)},"done":true}`),
    isRefused: true,
  },
  {
    what: 'a line with many values of a local server',
    path: CHAT,
    request: ASK_LOCAL_STREAM,
    answer: () => ({
      type: 'application/x-ndjson',
      body: `{"message":{"content":"a"},"x":${list(2 * MEBIBYTE, '{}')},"done":true}\n`,
    }),
    isRefused: true,
  },
];

/** Variants of them. */
const VARIANTS: readonly LargeAnswer[] = [
  {
    what: 'a text of quotes, without usage',
    path: CHAT,
    request: ASK,
    answer: () => json(answered(replied('"'.repeat((LARGE / 2 - 1) * MEBIBYTE)), '')),
    isRefused: false,
  },
  {
    what: 'a Chinese text',
    path: CHAT,
    request: ASK,
    answer: () => json(answered(replied('你好'.repeat((LARGE / 6) * MEBIBYTE)))),
    isRefused: false,
  },
  {
    what: '500,000 tool calls',
    path: CHAT,
    request: ASK,
    answer: () => json(answered(called(500_000))),
    isRefused: true,
  },
  {
    what: 'the probabilities of many tokens',
    path: CHAT,
    request: ASK,
    answer: () => json(answered(replied('a'), `,"logprobs":{"content":${likely(4_096)}},${USAGE}`)),
    isRefused: false,
  },
  {
    what: 'millions of choices',
    path: CHAT,
    request: ASK,
    answer: () => json(`{"choices":${list((LARGE / 3) * MEBIBYTE, '{}')}}`),
    isRefused: true,
  },
  {
    what: 'many fields',
    path: CHAT,
    request: ASK,
    answer: () =>
      json(answered(`{"role":"assistant",${fields(fullSize(400_000, { small: 200_000 }))}}`)),
    isRefused: false,
  },
  {
    what: 'a long event',
    path: CHAT,
    request: ASK_STREAM,
    answer: () => events(event(`{"content":"${'a b '.repeat(1.5 * MEBIBYTE)}"}`) + ENDING),
    isRefused: false,
  },
  {
    what: 'an event with many values',
    path: CHAT,
    request: ASK_STREAM,
    answer: () => events(event(`{"tool_calls":${list(2 * MEBIBYTE, '{}')}}`) + ENDING),
    isRefused: true,
  },
  {
    what: 'a long event of the Responses API',
    path: RESPOND,
    request: ASK_RESPONSE_STREAM,
    answer: () => events(responseEvents(`"delta":"${'a b '.repeat(1.5 * MEBIBYTE)}"`)),
    isRefused: false,
  },
  {
    what: 'an event of the Responses API with many values',
    path: RESPOND,
    request: ASK_RESPONSE_STREAM,
    answer: () => events(responseEvents(`"delta":"a","logprobs":${list(2 * MEBIBYTE, '{}')}`)),
    isRefused: true,
  },
  {
    what: 'a vector of millions of numbers',
    path: EMBED,
    request: '{"model":"scripted","input":"x"}',
    answer: () => json(vectors(1, fullSize(8, { small: 1 }) * 256 * 1024)),
    isRefused: true,
  },
  {
    what: 'a long text of a local server',
    path: CHAT,
    request: ASK_LOCAL,
    answer: () => json(`{"message":${replied('a b '.repeat((LARGE / 4) * MEBIBYTE))},"done":true}`),
    isRefused: false,
  },
];

/** Answers of upstreams that could keep a process busy, or take its memory. */
export const LARGE_ANSWERS = fullTable([...USUAL, ...VARIANTS], { small: USUAL.length });
