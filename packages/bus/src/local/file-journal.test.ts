import { appendFile, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
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
  await Promise.all(opened.map((journal) => journal.close()));
  await rm(dataDir, { recursive: true, force: true });
});

async function open(fileBytesMax?: number, lookEveryMs = 100): Promise<FileJournal> {
  const sizes = fileBytesMax === undefined ? {} : { fileBytesMax };
  const journal = createFileJournal({ dataDir, log: silentLog, lookEveryMs, ...sizes });
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
  const journal = createFileJournal({ dataDir: join(dataDir, 'file'), log: silentLog });
  await expect(journal.start()).rejects.toThrow(StartupError);
  await expect(journal.start()).rejects.toThrow(
    /the data directory .+ cannot be written \(.+\); make it writable/,
  );
});

test('files are rotated by size, drained in order and deleted', async () => {
  const journal = await open(1_000);
  for (const id of ids(100)) await journal.append({ id, body: 'x'.repeat(50) });
  expect((await files()).length).toBeGreaterThan(5);
  expect(await drainTo(journal, 'id-99')).toEqual(ids(100));
  expect(await journal.lag()).toBe(0);
  expect(await files()).toEqual([]);
});

test('entries of a file that was closed for its size are counted as lag', async () => {
  const journal = await open(10);
  await journal.append({ id: 'only', body: 'x'.repeat(50) });
  expect(await journal.lag()).toBe(1);
});

test('a waiting drainer wakes when an entry is appended', async () => {
  // It would look by itself long after the test has failed.
  const journal = await open(10, 600_000);
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

test('one process drains what others append meanwhile, without losing an entry', async () => {
  const [reader, ...writers] = [await open(), await open(500), await open(), await open(2_000)];
  const stop = new AbortController();
  const seen: string[] = [];
  const record = (batch: readonly JournalEntry[]): Promise<void> => {
    seen.push(...batch.map(({ id }) => id));
    return Promise.resolve();
  };
  const drained = reader.drain(record, { batchSize: 50, signal: stop.signal });
  const appended = writers.map(async (writer, number) => {
    const names = ids(400).map((id) => `${number}-${id}`);
    for (const id of names) await writer.append({ id, body: 'x'.repeat(50) });
    return names;
  });
  const names = (await Promise.all(appended)).flat();
  while ((await reader.lag()) > 0) await setImmediate();
  stop.abort();
  await drained;
  expect([...new Set(seen)].toSorted()).toEqual(names.toSorted());
  expect(await files()).toEqual([]);
});

test('two processes that drain one directory share its files', async () => {
  const [writer, ...readers] = [await open(200), await open(), await open()];
  await appendAll(writer, ids(100));
  for (const id of ids(50)) await writer.append({ id: `late-${id}`, body: 'x'.repeat(50) });
  const stop = new AbortController();
  const seen: string[] = [];
  const record = (batch: readonly JournalEntry[]): Promise<void> => {
    seen.push(...batch.map(({ id }) => id));
    return Promise.resolve();
  };
  const draining = readers.map((reader) =>
    reader.drain(record, { batchSize: 10, signal: stop.signal }),
  );
  while ((await writer.lag()) > 0) await setImmediate();
  stop.abort();
  await Promise.all(draining);
  expect(new Set(seen).size).toBe(150);
  expect(await files()).toEqual([]);
});

test('a file whose writer is still there when it is taken gets no more entries', async () => {
  const [writer, reader] = [await open(), await open()];
  await writer.append({ id: 'first', body: 'x' });
  expect(await drainTo(reader, 'first')).toEqual(['first']);
  await writer.append({ id: 'second', body: 'x' });
  await writer.append({ id: 'third', body: 'x' });
  expect(await drainTo(reader, 'third')).toEqual(['second', 'third']);
});

test('what a crashed process was recording is delivered again by the next one', async () => {
  const crashed = await open();
  await appendAll(crashed, ids(20));
  expect(await drainTo(crashed, 'id-0')).toEqual(ids(7));
  expect(await drainTo(await open(), 'id-19')).toEqual(ids(20));
  // It may not have crashed after all.
  await crashed.append({ id: 'later', body: 'x' });
  expect(await drainTo(crashed, 'later')).toEqual(['later']);
});

test('a file of another host is taken when it has not changed for ten minutes', async () => {
  const journal = await open();
  const write = async (name: string, id: string, ageSecs: number): Promise<void> => {
    const path = join(dataDir, 'journal', name);
    await writeFile(path, `${JSON.stringify({ id, body: 'x' })}\n`);
    const at = Date.now() / 1_000 - ageSecs;
    await utimes(path, at, at);
  };
  await write('1~elsewhere~a~00000001.jsonl', 'in use', 590);
  await write('2~elsewhere~b~00000001.jsonl', 'left', 610);
  await write(`3~${hostname()}~c~00000001.jsonl`, 'here', 0);
  expect(await drainTo(journal, 'here')).toEqual(['left', 'here']);
  expect(await files()).toEqual(['1~elsewhere~a~00000001.jsonl']);
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
