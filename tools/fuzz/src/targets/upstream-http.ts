import * as fc from 'fast-check';
import {
  answersTo,
  UPSTREAM_OPERATIONS,
  type UpstreamAnswer,
  type UpstreamOperation,
} from '../grammar/upstream-body.ts';
import { bytesOf, cutAt } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { send, type Answer } from '../run/send.ts';
import { modelOf, type ScriptedAnswer } from '../scenes/scripted-upstreams.ts';
import type { ServiceScene, Target } from '../target.ts';

interface UpstreamCase {
  readonly operation: UpstreamOperation;
  readonly answer: UpstreamAnswer;
  /** The client asks for usage in the stream. */
  readonly wantsUsage: boolean;
}

const KINDS = { external: 'external', local: 'local' } as const;

/** Answers of `external` and `local-server` backends: JSON, event streams and lines of JSON. */
export const upstreamHttp: Target<UpstreamCase, ServiceScene> = {
  name: 'upstream-http',
  about: 'answers of HTTP upstreams: JSON, SSE and NDJSON',
  scene: 'service',
  shortCases: 80,
  cases: () =>
    Promise.resolve(
      fc.oneof(
        ...UPSTREAM_OPERATIONS.map((operation) =>
          fc.record({
            operation: fc.constant(operation),
            answer: answersTo(operation),
            wantsUsage: fc.boolean(),
          }),
        ),
      ),
    ),
  async run({ operation, answer, wantsUsage }, scene) {
    const [kindName = '', what] = operation.split(' ');
    const kind = KINDS[kindName as keyof typeof KINDS];
    const upstream = scene.upstreams.of[kind];
    upstream.answerWith(() => scripted(answer, scene.values));
    try {
      const isStream = what === 'stream';
      const body = {
        model: modelOf(kind),
        ...(what === 'embeddings'
          ? { input: 'Hello' }
          : { messages: [{ role: 'user', content: 'Hello' }], stream: isStream }),
        ...(isStream && wantsUsage ? { stream_options: { include_usage: true } } : {}),
      };
      const received = await send(scene.restUrl, {
        method: 'POST',
        path: what === 'embeddings' ? '/v1/embeddings' : '/v1/chat/completions',
        headers: { authorization: `Bearer ${scene.values['api_key']}` },
        pieces: [Buffer.from(JSON.stringify(body))],
      });
      if (received.outcome === 'broken off') return checkCut(received);
      return [
        ...checkAnswer(received, scene.secrets),
        ...checkBlame(received, answer.status),
        ...checkBody(received, isStream),
      ];
    } finally {
      upstream.answerWith(undefined);
    }
  },
};

/** The script of an answer. */
export function scripted(
  answer: UpstreamAnswer,
  values: Readonly<Record<string, string>>,
): ScriptedAnswer {
  return {
    status: answer.status,
    headers: { 'content-type': answer.contentType },
    pieces: cutAt(bytesOf(answer.body, values), answer.cuts),
    breaks: answer.breaks,
  };
}

/** What clients of OpenAI's API get as the upstream answered it. */
const PASSED_STATUSES: ReadonlySet<number> = new Set([400, 404, 408, 409, 413, 415, 422, 429]);

/**
 * The request was valid, so that an error is none of the client's, unless the upstream says so. An upstream that limited an
 * earlier request is not asked for some seconds.
 */
export function checkBlame({ status, body }: Answer, upstreamStatus?: number): readonly string[] {
  const isLimited = status === 429 && body.includes('limits its requests');
  const isPassed = PASSED_STATUSES.has(status) && status === upstreamStatus;
  const isBlamed = status >= 400 && status < 500 && !isLimited && !isPassed;
  return isBlamed ? [`the client is blamed: ${status} ${body.toString().slice(0, 300)}`] : [];
}

function checkBody({ status, body }: Answer, isStream: boolean): readonly string[] {
  const text = body.toString();
  if (status === 200 && isStream) return checkEvents(text);
  return isJson(text) ? [] : [`status ${status} without JSON: ${text.slice(0, 300)}`];
}

/** The data of every event of a stream. */
export const dataOfEvents = (text: string): string[] =>
  text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((event) => {
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'));
    return lines.length === 0 ? [] : [lines.map((line) => line.slice('data:'.length)).join('\n')];
  });

/** A connection may break after the event of an error in a stream, which is then not whole. */
export function checkCut({ body }: Pick<Answer, 'body'>): readonly string[] {
  const last = dataOfEvents(body.toString()).at(-1) ?? '';
  return isJson(last) && 'error' in JSON.parse(last) ? [] : ['the connection broke'];
}

/** The data of every event is JSON, and the last one is `[DONE]`. */
function checkEvents(text: string): readonly string[] {
  const datas = dataOfEvents(text);
  const last = datas.pop();
  return [
    ...(last?.trim() === '[DONE]' ? [] : [`the stream ends with ${String(last).slice(0, 300)}`]),
    ...datas.filter((data) => !isJson(data)).map((data) => `not JSON: ${data.slice(0, 300)}`),
  ];
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
