import { bytesOf, cutAt } from '../grammar/wire-text.ts';
import type { UpstreamAnswer } from '../grammar/upstream-answer.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { send, type Answer } from '../run/send.ts';
import type { ScriptedAnswer } from '../scenes/scripted-upstreams.ts';
import type { ServiceScene } from '../target.ts';

export const CHAT = '/v1/chat/completions';
export const EMBEDDINGS = '/v1/embeddings';
export const MESSAGES = [{ role: 'user', content: 'Hello' }];

/** Sends a valid request and checks that the client is not blamed for what the upstream of the case does. */
export async function askModel(
  scene: ServiceScene,
  path: string,
  body: object,
  upstreamStatus?: number,
): Promise<readonly string[]> {
  const answer = await send(scene.restUrl, {
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${scene.values['api_key']}` },
    pieces: [Buffer.from(JSON.stringify(body))],
  });
  const isStream = 'stream' in body && body.stream === true;
  if (answer.outcome === 'broken off') return checkCut(answer);
  return [
    ...checkAnswer(answer, scene.secrets),
    ...checkBlame(answer, upstreamStatus),
    ...checkBody(answer, isStream, path),
  ];
}

/** The script of an answer. */
export const scripted = (
  answer: UpstreamAnswer,
  values: Readonly<Record<string, string>>,
): ScriptedAnswer => ({
  status: answer.status,
  headers: { 'content-type': answer.contentType },
  pieces: cutAt(bytesOf(answer.body, values), answer.cuts),
  breaks: answer.breaks,
});

/** What clients of OpenAI's API get as the upstream answered it. */
const PASSED_STATUSES: ReadonlySet<number> = new Set([400, 404, 408, 409, 413, 415, 422, 429]);

/**
 * The request was valid, so that an error is none of the client's, unless the upstream says so. An upstream that limited an
 * earlier request is not asked for some seconds.
 */
function checkBlame({ status, body }: Answer, upstreamStatus?: number): readonly string[] {
  const isLimited = status === 429 && body.includes('limits its requests');
  const isPassed = PASSED_STATUSES.has(status) && status === upstreamStatus;
  const isBlamed = status >= 400 && status < 500 && !isLimited && !isPassed;
  return isBlamed ? [`the client is blamed: ${status} ${body.toString().slice(0, 300)}`] : [];
}

/** The data of every event of a stream. */
const dataOfEvents = (text: string): string[] =>
  text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((event) => {
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'));
    return lines.length === 0 ? [] : [lines.map((line) => line.slice('data:'.length)).join('\n')];
  });

/** A connection may break after the event of an error in a stream, which is then not whole. */
function checkCut({ body }: Answer): readonly string[] {
  const last = dataOfEvents(body.toString()).at(-1) ?? '';
  return isJson(last) && 'error' in JSON.parse(last) ? [] : ['the connection broke'];
}

/** An answer is JSON, and so is the data of every event of a stream; one of chat completions ends with `[DONE]`. */
function checkBody({ status, body }: Answer, isStream: boolean, path: string): readonly string[] {
  const text = body.toString();
  const isEvents = status === 200 && isStream;
  const datas = isEvents ? dataOfEvents(text) : [text];
  const hasEnd = datas.at(-1)?.trim() === '[DONE]';
  if (hasEnd) datas.pop();
  return [
    ...(isEvents && path === CHAT && !hasEnd
      ? [`the stream ends with ${String(datas.at(-1)).slice(0, 300)}`]
      : []),
    ...datas
      .filter((data) => !isJson(data))
      .map((data) => `status ${status}, not JSON: ${data.slice(0, 300)}`),
  ];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
