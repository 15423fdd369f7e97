import { base64Of, bytesOf, createResampler, pcm16Of, samplesOf } from './pcm16.ts';

test('samples are the same after they were sent, and loud ones are cut off', () => {
  const sent = pcm16Of(Float32Array.from([0, 0.5, -0.5, 1, -1, 7, -7]));
  const received = [...samplesOf(bytesOf(base64Of(sent)))];
  const expected = [0, 0.5, -0.5, 1, -1, 1, -1];
  expect(received).toHaveLength(expected.length);
  received.forEach((sample, place) => expect(sample).toBeCloseTo(expected[place] ?? 0, 4));
});

test('16-bit numbers begin with their lowest byte', () => {
  expect([...pcm16Of(Float32Array.from([1]))]).toEqual([0xff, 0x7f]);
});

test.each([
  { from: 48_000, to: 16_000 },
  { from: 44_100, to: 16_000 },
  { from: 16_000, to: 24_000 },
])('a tone keeps its length and form from $from to $to samples a second', ({ from, to }) => {
  const SECONDS = 0.5;
  const tone = (time: number): number => Math.sin(2 * Math.PI * 200 * time);
  const resample = createResampler(from, to);
  const result: number[] = [];
  // Blocks as the browser makes them, which do not fit to the steps.
  for (let start = 0; start < from * SECONDS; start += 128)
    result.push(
      ...resample(Float32Array.from({ length: 128 }, (_, place) => tone((start + place) / from))),
    );
  expect(Math.abs(result.length - to * SECONDS)).toBeLessThan(200);
  const worst = Math.max(...result.map((sample, place) => Math.abs(sample - tone(place / to))));
  expect(worst).toBeLessThan(0.01);
});
