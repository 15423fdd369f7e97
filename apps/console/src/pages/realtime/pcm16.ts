const SAMPLE_MAX = 0x7f_ff;
const BYTES_PER_SAMPLE = 2;
/** More arguments at once can be too many for a call. */
const BYTES_PER_CALL = 8192;

/** Changes the rate of samples that arrive in blocks, by straight lines between them. */
export function createResampler(from: number, to: number): (block: Float32Array) => Float32Array {
  const step = from / to;
  // Where the next sample is, counted from the start of the next block; before it is the last sample of the block before.
  let position = 0;
  let last = 0;
  return (block) => {
    const samples: number[] = [];
    for (; position < block.length - 1 || (position < 0 && block.length > 0); position += step) {
      const index = Math.floor(position);
      const before = index < 0 ? last : (block[index] ?? 0);
      const after = block[index + 1] ?? before;
      samples.push(before + (after - before) * (position - index));
    }
    last = block.at(-1) ?? last;
    position -= block.length;
    return Float32Array.from(samples);
  };
}

/** Samples as 16-bit numbers, lowest byte first. */
export function pcm16Of(samples: Float32Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(samples.length * BYTES_PER_SAMPLE));
  samples.forEach((sample, place) => {
    const bounded = Math.max(-1, Math.min(1, sample));
    bytes.setInt16(place * BYTES_PER_SAMPLE, Math.round(bounded * SAMPLE_MAX), true);
  });
  return new Uint8Array(bytes.buffer);
}

/** The opposite of `pcm16Of`. */
export function samplesOf(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Float32Array(Math.floor(bytes.byteLength / BYTES_PER_SAMPLE));
  for (let place = 0; place < samples.length; place += 1)
    samples[place] = view.getInt16(place * BYTES_PER_SAMPLE, true) / SAMPLE_MAX;
  return samples;
}

export function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += BYTES_PER_CALL)
    text += String.fromCodePoint(...bytes.subarray(start, start + BYTES_PER_CALL));
  return btoa(text);
}

export const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (character) => character.codePointAt(0) ?? 0);
