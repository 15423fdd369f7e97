import { upstreamFailed } from '../../errors/upstream-error.ts';

const NEWLINE = 0x0a;

/** The non-empty lines of a body, each decoded at once, so that no character is split. */
export async function* bodyLines(
  body: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
): AsyncGenerator<string, void, undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const keep = (part: Uint8Array): void => {
    if (part.length === 0) return;
    size += part.length;
    if (size > lineBytesMax)
      throw upstreamFailed(`the upstream sent a line of more than ${lineBytesMax} bytes`);
    parts.push(part);
  };
  const take = (): string => {
    const line = Buffer.concat(parts).toString('utf8').trim();
    parts = [];
    size = 0;
    return line;
  };
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line !== '') yield line;
    }
    keep(chunk.subarray(start));
  }
  const last = take();
  if (last !== '') yield last;
}
