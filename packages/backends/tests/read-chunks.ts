import type { UpstreamTurn } from '@model-gateway/contracts';
import type { Backend, ChatChunk } from '@model-gateway/router';

/** Everything that an iterable yields. */
export async function readAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}

/** Begins a streamed chat with a backend that makes chunks. */
export async function startChunks(
  backend: Backend,
  turn: UpstreamTurn,
  signal: AbortSignal,
): Promise<AsyncIterable<ChatChunk>> {
  const stream = await backend.chatStream?.(turn, signal);
  if (stream?.form !== 'chunks') throw new Error('the backend makes no chunks');
  return stream.chunks;
}

/** The text of a stream. */
export function textOf(chunks: readonly ChatChunk[]): string {
  return chunks
    .flatMap((chunk) => chunk['choices'] as { delta: { content?: string } }[])
    .map(({ delta }) => delta.content ?? '')
    .join('');
}
