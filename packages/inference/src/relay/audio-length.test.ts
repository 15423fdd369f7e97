import { secondsOfFile, secondsOfTokens } from './audio-length.ts';

interface WavOptions {
  readonly tag?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly bits?: number;
  /** The chunks before the format. */
  readonly before?: Buffer;
}

/** The beginning of a WAV file. Its field for the bytes a second is always wrong. */
function wavHead({ tag = 1, channels = 1, rate = 24_000, bits = 16, before }: WavOptions = {}) {
  const format = Buffer.alloc(24);
  format.write('fmt ', 0, 'latin1');
  format.writeUInt32LE(16, 4);
  format.writeUInt16LE(tag, 8);
  format.writeUInt16LE(channels, 10);
  format.writeUInt32LE(rate, 12);
  format.writeUInt32LE(0xffffffff, 16);
  format.writeUInt16LE(bits, 22);
  const parts = [Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), before ?? Buffer.alloc(0), format];
  return Buffer.concat([...parts, Buffer.from('data\0\0\0\0', 'latin1')]);
}

/** An odd one is followed by a byte that does not count. */
function chunk(bytes: number): Buffer {
  const content = Buffer.alloc(8 + bytes + (bytes % 2));
  content.write('JUNK', 0, 'latin1');
  content.writeUInt32LE(bytes, 4);
  return content;
}

const BYTES = 480_000;

test.each([
  { why: 'a recording', head: wavHead(), seconds: 10 },
  { why: 'a recording with two channels', head: wavHead({ channels: 2 }), seconds: 5 },
  { why: 'telephone audio', head: wavHead({ tag: 7, rate: 8_000, bits: 8 }), seconds: 60 },
  { why: 'a format behind other chunks', head: wavHead({ before: chunk(601) }), seconds: 10 },
])('the length of a WAV file is that of its samples: $why', ({ head, seconds }) => {
  expect(secondsOfFile({ bytes: BYTES, fileHead: head })).toBe(seconds);
});

test.each([
  { why: 'no header', head: Buffer.from('ID3 an MP3 file, which has frames') },
  { why: 'nothing yet', head: Buffer.alloc(0) },
  { why: 'a rate that no audio has', head: wavHead({ rate: 4_000_000_000 }) },
  { why: 'more channels than there are', head: wavHead({ channels: 60_000 }) },
  { why: 'no channels', head: wavHead({ channels: 0 }) },
  { why: 'samples that are compressed', head: wavHead({ tag: 0x55 }) },
  { why: 'a format that has not arrived', head: wavHead({ before: chunk(600) }).subarray(0, 400) },
  { why: 'a chunk that is too long', head: wavHead({ before: Buffer.alloc(8, 0xff) }) },
  { why: 'a header that is cut off', head: wavHead().subarray(0, 20) },
])('other files have 16,000 bytes a second: $why', ({ head }) => {
  expect(secondsOfFile({ bytes: BYTES, fileHead: head })).toBe(30);
  expect(secondsOfFile({ bytes: BYTES })).toBe(30);
});

test('a text takes three tenths of a second for each token, without a rest from the division', () => {
  expect([1, 3, 6, 7, 1_003].map(secondsOfTokens)).toEqual([0.3, 0.9, 1.8, 2.1, 300.9]);
});
