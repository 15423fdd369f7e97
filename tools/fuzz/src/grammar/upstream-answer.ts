import * as fc from 'fast-check';
import { like } from './examples.ts';
import { jsonText } from './json-text.ts';
import { cuts, onTheWire, type WireText } from './wire-text.ts';

/** How an upstream answers over HTTP. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: WireText;
  readonly cuts: readonly number[];
  readonly breaks: boolean;
}

const whole = (name: string): fc.Arbitrary<string> => jsonText(like(name));

/** Events like these examples, and one of these texts at the end. */
const eventStream = (name: string, ...ends: readonly string[]): fc.Arbitrary<string> => {
  const before = [
    'data: ',
    'data:',
    'event: x\ndata: ',
    ': x\n\ndata: ',
    'id: 1\nretry: 1\ndata: ',
  ];
  const after = ['\n\n', '\n\n', '\n\n', '\r\n\r\n', '\r\r', '\n', ''];
  const event = fc.tuple(fc.constantFrom(...before), whole(name), fc.constantFrom(...after));
  const last = fc.constantFrom(...ends.map((end) => `data: ${end}\n\n`), `data: ${ends[0]}`, '');
  return fc
    .tuple(fc.array(event, { maxLength: 10 }), last)
    .map(([events, end]) => [...events.flat(), end].join(''));
};

const lines = fc
  .tuple(
    fc.array(fc.tuple(whole('local-line'), fc.constantFrom('\n', '\n', '\r\n', '\n\n', '')), {
      maxLength: 8,
    }),
    fc.constantFrom(
      '{"done":true,"message":{"role":"assistant","content":""}}\n',
      '{"error":"oom"}\n',
      '',
    ),
  )
  .map(([texts, end]) => [...texts.flat(), end].join(''));

const chunks = eventStream('chunk', '[DONE]');

/** What each kind of upstream answers, whole and as a stream. */
export const UPSTREAM_BODIES = {
  'external chat': whole('completion'),
  'external stream': chunks,
  'external embeddings': whole('embeddings'),
  'local chat': whole('local-line'),
  'local stream': lines,
  'local embeddings': whole('local-embeddings'),
  'anthropic chat': whole('anthropic'),
  'anthropic stream': eventStream('anthropic-event', '{"type":"message_stop"}'),
  'gemini chat': whole('gemini'),
  'gemini stream': eventStream(
    'gemini',
    '{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}',
  ),
  'azure chat': whole('completion'),
  'azure stream': chunks,
  'responses chat': whole('responses'),
  'responses stream': eventStream(
    'responses-event',
    '{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[]}}',
  ),
  'video submit': whole('video-submitted'),
  'video query': whole('video-task'),
  'video file': whole('video-file'),
};
export type UpstreamBody = keyof typeof UPSTREAM_BODIES;

/** An error that quotes the key of the upstream. */
const errorBody = fc.constantFrom(
  '{"error":{"message":"wrong key {{upstream_key}}","type":"{{upstream_key}}","code":"x"}}',
  '{"error":"wrong key {{upstream_key}}"}',
  '{"message":"wrong key {{upstream_key}}"}',
  '{"error":{"message":"line\\nline\\u0000\\u001b[31m {{upstream_key}}"}}',
  'wrong key {{upstream_key}}',
  '<html>{{upstream_key}}</html>',
  '',
  '[]',
);
const longError = fc
  .integer({ min: 1, max: 60_000 })
  .map((count) => JSON.stringify({ error: { message: '\u0001'.repeat(count) } }));

const contentType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'text/event-stream',
  'application/x-ndjson',
  'text/html',
);

/** Answers with such a body, and errors. */
export function answersWith(name: UpstreamBody): fc.Arbitrary<UpstreamAnswer> {
  const isEvents = name.endsWith('stream') && name !== 'local stream';
  const usual = fc.constant(isEvents ? 'text/event-stream' : 'application/json');
  const end = {
    cuts,
    breaks: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
  };
  const success = fc.record({
    status: fc.oneof(
      { weight: 9, arbitrary: fc.constant(200) },
      { weight: 1, arbitrary: fc.constantFrom(201, 204, 206, 302) },
    ),
    contentType: fc.oneof({ weight: 4, arbitrary: usual }, contentType),
    body: onTheWire(UPSTREAM_BODIES[name]),
    ...end,
  });
  const failure = fc.record({
    status: fc.constantFrom(400, 401, 404, 418, 429, 500, 503, 599),
    contentType,
    body: fc.oneof({ weight: 4, arbitrary: errorBody }, longError).map((text) => ({ text })),
    ...end,
  });
  return fc.oneof({ weight: 6, arbitrary: success }, { weight: 1, arbitrary: failure });
}
