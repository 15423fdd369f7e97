import { createFrameAllowances } from './frame-allowance.ts';

test('a stream of 2,000 frames a second, and many of them at once, are within the allowance', () => {
  let now = 0;
  const allowance = createFrameAllowances(() => now).of('a');
  for (let second = 0; second < 60; second += 1) {
    for (let frame = 0; frame < 16_000; frame += 1) allowance.onTunnelFrame();
    now += 1_000;
    expect(allowance.waitMs()).toBe(0);
  }
});

test('what is beyond the allowance waits until it is paid', () => {
  let now = 0;
  const allowance = createFrameAllowances(() => now).of('a');
  for (let frame = 0; frame < 2_000; frame += 1) allowance.onControlFrame(100);
  expect(allowance.waitMs()).toBe(0);
  for (let frame = 0; frame < 400; frame += 1) allowance.onControlFrame(100);
  expect(allowance.waitMs()).toBe(2_000);
  now += 1_500;
  expect(allowance.waitMs()).toBe(500);
  now += 500;
  expect(allowance.waitMs()).toBe(0);
});

test('a large control frame counts several times', () => {
  const allowance = createFrameAllowances(() => 0).of('a');
  for (let frame = 0; frame < 8; frame += 1) allowance.onControlFrame(1024 * 1024);
  expect(allowance.waitMs()).toBe(280);
});

test('all connections of a node have one allowance, and connecting counts', () => {
  const allowances = createFrameAllowances(() => 0);
  for (let connection = 0; connection < 220; connection += 1) allowances.of('a').onConnection();
  expect(allowances.of('a').waitMs()).toBe(1_000);
  expect(allowances.of('b').waitMs()).toBe(0);
});
