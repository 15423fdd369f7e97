import { appendFile, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { silentLog, StartupError, type JournalEntry } from '@model-gateway/kernel';
import { createFileJournal, type FileJournal } from './file-journal.ts';

let dataDir = '';
let opened: FileJournal[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'file-journal-'));
  opened = [];
});

afterEach(async () => {
  mock.timers.reset();
  await Promise.all(opened.map((journal) => journal.close()));
  await rm(dataDir, { recursive: true, force: true });
});

async function open(segmentBytesMax?: number): Promise<FileJournal> {
  const sizes = segmentBytesMax === undefined ? {} : { segmentBytesMax };
  const journal = createFileJournal({ dataDir, log: silentLog, instanceName: 'test', ...sizes });
  opened.push(journal);
  await journal.start();
  return journal;
}

const files = (): Promise<string[]> => readdir(join(dataDir, 'journal'));

/** Records until the given entry has come, and answers all ids in order. */
async function drainTo(journal: FileJournal, lastId: string): Promise<readonly string[]> {
  const seen: string[] = [];
  const stop = new AbortController();
  const record = (batch: readonly JournalEntry[]): Promise<void> => {
    seen.push(...batch.map(({ id }) => id));
    if (seen.includes(lastId)) stop.abort();
    return Promise.resolve();
  };
  await journal.drain(record, { batchSize: 7, signal: stop.signal });
  return seen;
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `id-${index}`);
const appendAll = (journal: FileJournal, names: readonly string[]): Promise<unknown> =>
  Promise.all(names.map((id) => journal.append({ id, body: 'x'.repeat(50) })));

test('a directory that cannot be written keeps the process from starting', async () => {
  await writeFile(join(dataDir, 'file'), '');
  const journal = createFileJournal({
    dataDir: join(dataDir, 'file'),
    log: silentLog,
    instanceName: 'test',
  });
  await expect(journal.start()).rejects.toThrow(StartupError);
  await expect(journal.start()).rejects.toThrow(
    /the data directory .+ cannot be written \(.+\); make it writable/,
  );
});

test('segments are rotated by size, drained in order and deleted', async () => {
  const journal = await open(1_000);
  for (const id of ids(100)) await journal.append({ id, body: 'x'.repeat(50) });
  expect((await files()).length).toBeGreaterThan(5);
  expect(await drainTo(journal, 'id-99')).toEqual(ids(100));
  expect(await journal.lag()).toBe(0);
  expect(await files()).toEqual([]);
});

test('entries of a segment that was closed for its size are counted as lag', async () => {
  const journal = await open(10);
  await journal.append({ id: 'only', body: 'x'.repeat(50) });
  expect(await journal.lag()).toBe(1);
});

test('a waiting drainer wakes when a segment is closed for its size', async () => {
  // Otherwise it would wake by itself after a minute.
  mock.timers.enable({ apis: ['setTimeout'] });
  const journal = await open(10);
  const drained = drainTo(journal, 'second');
  await journal.append({ id: 'first', body: 'x'.repeat(50) });
  // The drainer has nothing left to do and waits.
  while ((await journal.lag()) > 0) await setImmediate();
  while ((await files()).length > 0) await setImmediate();
  await journal.append({ id: 'second', body: 'x'.repeat(50) });
  expect(await drained).toEqual(['first', 'second']);
});

test('a torn line is left out and what is around it is not', async () => {
  const journal = await open();
  await appendAll(journal, ['first', 'second']);
  await journal.close();
  const [file = ''] = await files();
  await appendFile(join(dataDir, 'journal', file), '{"id":"torn","bo');
  const next = await open();
  const drained = drainTo(next, 'third');
  await next.append({ id: 'third', body: 'x' });
  expect(await drained).toEqual(['first', 'second', 'third']);
});

test('what is left at closing goes to the next journal of the directory, in order', async () => {
  const journal = await open(1_000);
  for (const id of ids(60)) await journal.append({ id, body: 'x'.repeat(50) });
  await journal.close();
  await expect(journal.append({ id: 'late', body: 'x' })).rejects.toThrow('closed');
  expect(await drainTo(await open(), 'id-59')).toEqual(ids(60));
  expect(await files()).toEqual([]);
});

test('the segments of a living owner are not taken', async () => {
  const [mine, other] = [await open(1_000), await open(1_000)];
  await appendAll(other, ids(40));
  const otherFiles = await files();
  await mine.append({ id: 'mine', body: 'x' });
  expect(await drainTo(mine, 'mine')).toEqual(['mine']);
  expect(await files()).toEqual(otherFiles);
  expect(await drainTo(other, 'id-39')).toHaveLength(40);
});

test('an append that cannot be written rejects, and the next one that can is kept', async () => {
  const journal = await open();
  const directory = join(dataDir, 'journal');
  await rename(directory, join(dataDir, 'elsewhere'));
  await writeFile(directory, 'in the way');
  await expect(journal.append({ id: 'lost', body: 'x' })).rejects.toThrow();
  await rm(directory);
  await rename(join(dataDir, 'elsewhere'), directory);
  await journal.append({ id: 'kept', body: 'x' });
  expect(await drainTo(journal, 'kept')).toEqual(['kept']);
});

test('an interrupted drain continues where it was', async () => {
  const journal = await open();
  await appendAll(journal, ids(20));
  expect(await drainTo(journal, 'id-0')).toEqual(ids(7));
  expect(await journal.lag()).toBe(13);
  expect(await drainTo(journal, 'id-19')).toEqual(ids(20).slice(7));
});
