import type { AnswerPart, Turn, TurnEvent, UpstreamTurn } from '@model-gateway/contracts';
import { tryParseJson } from '@model-gateway/kernel';
import type { Backend } from '@model-gateway/router';
import { z } from 'zod';
import { answerHead } from '../../src/answer-head.ts';
import { upstreamFailed, upstreamRefused } from '../../src/errors/upstream-error.ts';
import type { CreateBackendOptions } from '../../src/kind-definition.ts';
import { begunStream } from '../../src/transport/answers/begun-stream.ts';
import { bodyLines } from '../../src/transport/answers/body-lines.ts';
import { readText } from '../../src/transport/answers/read-text.ts';
import { JSON_HEADERS } from '../../src/transport/plain-answers.ts';
import { createUpstreamHttp } from '../../src/transport/upstream-http.ts';

interface ToyOptions extends CreateBackendOptions {
  readonly name: string;
  readonly url: URL;
  readonly apiKey: string;
}

const BYTES_MAX = 64 * 1024;

const modelsSchema = z.array(z.string());
/** A part of the answer, or what it counted, which is the last line. */
const lineSchema = z.union([
  z.object({ says: z.string() }),
  z.object({ heard: z.int(), said: z.int() }),
]);

/** `GET /models` answers an array of names, and `POST /talk` lines of JSON. */
export function createToyBackend({ name, url, apiKey, timeouts, clock }: ToyOptions): Backend {
  const http = createUpstreamHttp(url.origin, timeouts);
  const headers = { ...JSON_HEADERS, 'toy-key': apiKey };

  async function* talk(
    { model, turn }: UpstreamTurn,
    signal: AbortSignal,
  ): AsyncGenerator<AnswerPart, void, undefined> {
    const body = JSON.stringify({ to: model, hears: textOf(turn) });
    const answer = await http.request({ method: 'POST', path: '/talk', headers, body, signal });
    if (answer.status !== 200)
      throw upstreamRefused(answer.status, await readText(answer.body, BYTES_MAX), apiKey);
    let isDone = false;
    const lines = bodyLines(answer.body, { lineBytesMax: BYTES_MAX, isComplete: () => isDone });
    for await (const text of lines) {
      const line = lineSchema.parse(tryParseJson(text));
      isDone = 'heard' in line;
      yield { model, events: eventsOf(line) };
    }
    if (!isDone) throw upstreamFailed('the toy did not say how much it said');
  }

  return {
    name,
    kind: 'toy',
    capabilities: () => new Set(['chat']),
    async probe(signal) {
      const request = { method: 'GET', path: '/models', headers, signal } as const;
      const { text } = await http.requestWhole(request, BYTES_MAX);
      return { state: 'Healthy', models: modelsSchema.parse(tryParseJson(text)) };
    },
    async chat(turn, signal) {
      const answer = { ...answerHead(clock), model: turn.model, finish: 'stop' } as const;
      const events: TurnEvent[] = [];
      for await (const part of talk(turn, signal)) events.push(...part.events);
      const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
      const usage = events.find((event) => event.type === 'usage')?.usage;
      return { answer: { ...answer, parts: [{ type: 'text', text }], usage } };
    },
    chatStream: async (turn, signal) => ({
      form: 'parts',
      parts: await begunStream(talk(turn, signal)),
    }),
    close: () => http.close(),
  };
}

const eventsOf = (line: z.output<typeof lineSchema>): AnswerPart['events'] =>
  'says' in line
    ? [{ type: 'text', text: line.says }]
    : [
        { type: 'finish', reason: 'stop' },
        { type: 'usage', usage: { promptTokens: line.heard, completionTokens: line.said } },
      ];

const textOf = ({ messages }: Turn): string =>
  messages
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    .join('\n');
