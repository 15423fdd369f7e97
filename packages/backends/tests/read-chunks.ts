import type { AnswerPart, UpstreamCompletion, UpstreamTurn } from '@model-gateway/contracts';
import { ChatWriter, completionOf } from '@model-gateway/dialects';
import type { Backend, UpstreamAnswer } from '@model-gateway/router';

/** A chunk of chat completions. */
export type Chunk = Readonly<Record<string, unknown>>;

/** Everything that an iterable yields. */
export async function readAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}

/** Begins a streamed chat; the answer comes as a client of chat completions gets it. */
export async function startChunks(
  backend: Backend,
  turn: UpstreamTurn,
  signal: AbortSignal,
): Promise<AsyncIterable<Chunk>> {
  return chunksOfParts(await startParts(backend, turn, signal), turn.model);
}

/** Begins a streamed chat with a backend that makes parts. */
export async function startParts(
  backend: Backend,
  turn: UpstreamTurn,
  signal: AbortSignal,
): Promise<AsyncIterable<AnswerPart>> {
  const stream = await backend.chatStream?.(turn, signal);
  if (stream?.form !== 'parts') throw new Error('the backend makes no parts');
  return stream.parts;
}

/** The parts of an answer as chunks. Leaving them leaves the parts, also before the first read. */
export function chunksOfParts(
  parts: AsyncIterable<AnswerPart>,
  model: string,
): AsyncIterable<Chunk> {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 5, model } as const;
  const writer = new ChatWriter(head);
  return {
    [Symbol.asyncIterator]() {
      const source = parts[Symbol.asyncIterator]();
      const written: Chunk[] = [];
      return {
        async next() {
          while (written.length === 0) {
            const part = await source.next();
            if (part.done === true) return { done: true, value: undefined };
            written.push(...writer.chunksOf(part.value));
          }
          const [value = {}] = written.splice(0, 1);
          return { done: false, value };
        },
        async return() {
          await source.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** What the parts of an answer say. */
export const eventsOf = async (parts: AsyncIterable<AnswerPart>) =>
  (await readAll(parts)).flatMap(({ events }) => events);

/** A whole answer as a client of chat completions gets it. */
export function completionIn(answer: UpstreamAnswer | undefined): UpstreamCompletion {
  if (answer === undefined) throw new Error('there is no answer');
  return 'completion' in answer ? answer.completion : completionOf(answer.answer);
}

/** The text of a stream. */
export function textOf(chunks: readonly Chunk[]): string {
  return chunks
    .flatMap((chunk) => chunk['choices'] as { delta: { content?: string } }[])
    .map(({ delta }) => delta.content ?? '')
    .join('');
}
