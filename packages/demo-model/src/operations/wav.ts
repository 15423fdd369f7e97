const SAMPLE_RATE = 16_000;
const SAMPLE_BYTES = 2;
const HEADER_BYTES = 44;
const TONE_MS = 120;
const VOLUME = 6_000;
const LOWEST_HZ = 220;

/** A sequence of tones as 16-bit samples: one for each word, as high as the word is long. */
export function tonesOf(words: readonly string[]): Buffer {
  const toneSamples = (SAMPLE_RATE * TONE_MS) / 1000;
  const samples = Buffer.alloc(Math.max(1, words.length) * toneSamples * SAMPLE_BYTES);
  for (const [index, word] of words.entries()) {
    const step = (2 * Math.PI * LOWEST_HZ * 2 ** (Math.min(word.length, 24) / 12)) / SAMPLE_RATE;
    for (let at = 0; at < toneSamples; at += 1) {
      // Fades out, so that each word is heard.
      const volume = VOLUME * (1 - at / toneSamples);
      const offset = (index * toneSamples + at) * SAMPLE_BYTES;
      samples.writeInt16LE(Math.round(volume * Math.sin(step * at)), offset);
    }
  }
  return samples;
}

/** A WAV file of such samples. */
export function wavOf(samples: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + samples.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * SAMPLE_BYTES, 28);
  header.writeUInt16LE(SAMPLE_BYTES, 32);
  header.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** How long a WAV file plays, from its first bytes and its size; undefined if it is not one. */
export function wavSeconds(head: Buffer, fileBytes: number): number | undefined {
  const textAt = (at: number): string => head.subarray(at, at + 4).toString('latin1');
  if (textAt(0) !== 'RIFF' || textAt(8) !== 'WAVE') return undefined;
  let bytesPerSecond = 0;
  let at = 12;
  while (at + 8 <= head.length) {
    const size = head.readUInt32LE(at + 4);
    if (textAt(at) === 'fmt ' && at + 20 <= head.length)
      bytesPerSecond = head.readUInt32LE(at + 16);
    if (textAt(at) === 'data') {
      if (bytesPerSecond === 0) return undefined;
      // A recorder that streams does not know the size when it writes the header.
      return Math.min(size === 0 ? Infinity : size, fileBytes - at - 8) / bytesPerSecond;
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}
