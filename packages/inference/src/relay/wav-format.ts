const CHUNK_HEAD_BYTES = 8;
const FIRST_CHUNK = 12;
const FORMAT_BYTES_MIN = 16;
/** Samples that are not compressed: PCM, floating point, the two of G.711, and those with a longer header. */
const PLAIN_FORMATS: readonly number[] = [0x1, 0x3, 0x6, 0x7, 0xfffe];
/** No recording has more; a header that says so is not believed. */
const SAMPLE_RATE_MAX = 384_000;
const CHANNELS_MAX = 32;

/** How many bytes a second of a WAV file has, by the beginning of the file; undefined for any other file. */
export function wavBytesPerSecond(head: Buffer): number | undefined {
  if (textAt(head, 0) !== 'RIFF' || textAt(head, 8) !== 'WAVE') return undefined;
  for (let at = FIRST_CHUNK; at + CHUNK_HEAD_BYTES + FORMAT_BYTES_MIN <= head.length;) {
    if (textAt(head, at) === 'fmt ') return bytesPerSecond(head.subarray(at + CHUNK_HEAD_BYTES));
    const bytes = head.readUInt32LE(at + 4);
    at += CHUNK_HEAD_BYTES + bytes + (bytes % 2);
  }
  return undefined;
}

/** From the samples, and not from the field that repeats it, because decoders do not read that either. */
function bytesPerSecond(format: Buffer): number | undefined {
  const channels = format.readUInt16LE(2);
  const rate = format.readUInt32LE(4);
  const sampleBytes = Math.ceil(format.readUInt16LE(14) / 8);
  const isKnown = PLAIN_FORMATS.includes(format.readUInt16LE(0));
  if (!isKnown || channels > CHANNELS_MAX || rate > SAMPLE_RATE_MAX) return undefined;
  return channels * rate * sampleBytes || undefined;
}

const textAt = (head: Buffer, at: number): string => head.toString('latin1', at, at + 4);
