import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SlowFirst, { SLOW_FILES } from './slow-first.mjs';

const rootDir = join(import.meta.dirname, '..', '..');

test('every listed file exists', () => {
  expect(SLOW_FILES.filter((file) => !existsSync(join(rootDir, file)))).toEqual([]);
});

test('listed files run first and the others by their size', () => {
  const [slowest = '', second = ''] = SLOW_FILES;
  const files = ['package.json', 'pnpm-lock.yaml', second, slowest];
  const tests = files.map((file) => ({
    path: join(rootDir, file),
    context: { config: { rootDir } },
  }));
  const sequencer: { sort: (tests: unknown[]) => { path: string }[] } = new SlowFirst();
  // oxlint-disable-next-line unicorn/no-array-sort -- A sequencer, which is no array.
  const sorted = sequencer.sort(tests);
  expect(sorted.map(({ path }) => path)).toEqual(
    [slowest, second, 'pnpm-lock.yaml', 'package.json'].map((file) => join(rootDir, file)),
  );
});
