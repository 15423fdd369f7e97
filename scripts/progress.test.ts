import { clockText, longStep, startProgress } from './progress.mjs';

function startOn(isTTY: boolean) {
  const written: string[] = [];
  const output = { isTTY, write: (text: string) => written.push(text) };
  let count = 0;
  const progress = startProgress(() => `step ${(count += 1)}`, output);
  return { progress, written };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a terminal has one line, which changes every second and makes way for other text', () => {
  const { progress, written } = startOn(true);
  jest.advanceTimersByTime(2_000);
  progress.write('✗ a failure\n');
  progress.stop();
  jest.advanceTimersByTime(10_000);
  const clear = '\r\u001B[K';
  expect(written).toEqual([
    `${clear}step 1`,
    `${clear}step 2`,
    `${clear}✗ a failure\n`,
    `${clear}step 3`,
    clear,
  ]);
});

test('elsewhere there is a line every 30 seconds', () => {
  const { progress, written } = startOn(false);
  jest.advanceTimersByTime(60_000);
  progress.write('✗ a failure\n');
  progress.stop();
  expect(written).toEqual(['step 1\n', 'step 2\n', '✗ a failure\n']);
});

test('times are minutes and seconds', () => {
  expect([0, 7_400, 187_000, 3_600_000].map(clockText)).toEqual(['0:00', '0:07', '3:07', '60:00']);
});

test('a long step says what it does, every ten seconds how far it is, and its whole time', async () => {
  const written: string[] = [];
  const output = { isTTY: false, write: (text: string) => written.push(text) };
  const run = async (report: (done: number, total: number) => void) => {
    jest.advanceTimersByTime(10_000);
    report(3, 40);
    jest.advanceTimersByTime(10_000);
  };
  await longStep('Build', 'all packages', run, output);
  expect(written.map((text) => text.replace(/\d:\d\d/, 'TIME'))).toEqual([
    'Build: all packages…\n',
    'Build: all packages… TIME\n',
    'Build: all packages, 3 of 40… TIME\n',
    'Build: TIME\n',
  ]);
});
