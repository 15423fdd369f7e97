import type { Journal, JournalEntry } from '@model-gateway/kernel';
import { eventually } from '../eventually.ts';
import { withSubject, type MakeSubject } from './subject.ts';

const entryOf = (index: number): JournalEntry => ({
  id: `entry-${index}`,
  body: JSON.stringify({ index, text: 'line\nbreak “quotes” 🙂' }),
});
const entriesOf = (count: number): JournalEntry[] =>
  Array.from({ length: count }, (_, index) => entryOf(index));

/** What every kind of journal does. */
export function describeJournal(name: string, make: MakeSubject<Journal>): void {
  describe(`journal: ${name}`, () => {
    test(
      'entries are handed over in order, in batches of at most the given size',
      withSubject(make, async (journal) => {
        const entries = entriesOf(25);
        for (const entry of entries) await journal.append(entry);
        expect(await journal.lag()).toBe(25);
        const batches: (readonly JournalEntry[])[] = [];
        const stop = new AbortController();
        const drained = journal.drain(
          (batch) => {
            batches.push(batch);
            return Promise.resolve();
          },
          { batchSize: 10, signal: stop.signal },
        );
        await eventually('nothing is left', async () => (await journal.lag()) === 0);
        stop.abort();
        await drained;
        expect(batches.flat()).toEqual(entries);
        expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(10);
      }),
    );

    test(
      'a batch can have thousands of entries, and all of them are finished',
      withSubject(make, async (journal) => {
        const entries = entriesOf(2_500);
        for (let at = 0; at < entries.length; at += 250)
          await Promise.all(entries.slice(at, at + 250).map((entry) => journal.append(entry)));
        const sizes: number[] = [];
        const seen = new Set<string>();
        const stop = new AbortController();
        const drained = journal.drain(
          (batch) => {
            sizes.push(batch.length);
            for (const { id } of batch) seen.add(id);
            return Promise.resolve();
          },
          { batchSize: 2_200, signal: stop.signal },
        );
        await eventually('all were seen', () => seen.size === entries.length);
        await eventually('nothing is left', async () => (await journal.lag()) === 0);
        stop.abort();
        await drained;
        expect(Math.max(...sizes)).toBe(2_200);
      }),
    );

    test(
      'what is appended while a recorder drains arrives too',
      withSubject(make, async (journal) => {
        const seen = new Set<string>();
        const stop = new AbortController();
        const drained = journal.drain(
          (batch) => {
            for (const { id } of batch) seen.add(id);
            return Promise.resolve();
          },
          { batchSize: 100, signal: stop.signal },
        );
        await Promise.all(entriesOf(500).map((entry) => journal.append(entry)));
        await eventually('all were seen', () => seen.size === 500);
        await journal.append(entryOf(500));
        await eventually('the last was seen', () => seen.size === 501);
        await eventually('nothing is left', async () => (await journal.lag()) === 0);
        stop.abort();
        await drained;
      }),
    );

    test(
      'a batch that was not recorded stays and is handed over again',
      withSubject(make, async (journal) => {
        await Promise.all(entriesOf(3).map((entry) => journal.append(entry)));
        const attempts: string[][] = [];
        const stop = new AbortController();
        const drained = journal.drain(
          (batch) => {
            attempts.push(batch.map(({ id }) => id));
            return attempts.length === 1
              ? Promise.reject(new Error('the database is away'))
              : Promise.resolve();
          },
          { batchSize: 10, signal: stop.signal },
        );
        await eventually('there was an attempt', () => attempts.length === 1);
        expect(await journal.lag()).toBe(3);
        await eventually('nothing is left', async () => (await journal.lag()) === 0);
        stop.abort();
        await drained;
        expect(attempts).toEqual([attempts[0], attempts[0]]);
        expect(attempts[0]?.toSorted()).toEqual(['entry-0', 'entry-1', 'entry-2']);
      }),
    );

    test(
      'stopping finishes the batch in hand, and the next drain goes on from there',
      withSubject(make, async (journal) => {
        for (const entry of entriesOf(4)) await journal.append(entry);
        const seen: string[] = [];
        const stop = new AbortController();
        await journal.drain(
          async (batch) => {
            stop.abort();
            await Promise.resolve();
            seen.push(...batch.map(({ id }) => id));
          },
          { batchSize: 2, signal: stop.signal },
        );
        expect(seen).toEqual(['entry-0', 'entry-1']);
        expect(await journal.lag()).toBe(2);
        const stopAgain = new AbortController();
        const drained = journal.drain(
          (batch) => {
            seen.push(...batch.map(({ id }) => id));
            return Promise.resolve();
          },
          { batchSize: 2, signal: stopAgain.signal },
        );
        await eventually('nothing is left', async () => (await journal.lag()) === 0);
        stopAgain.abort();
        await drained;
        expect(seen).toEqual(['entry-0', 'entry-1', 'entry-2', 'entry-3']);
      }),
    );

    test(
      'stopping ends the drain without another attempt, idle or with a recorder that fails',
      withSubject(make, async (journal) => {
        for (const record of [
          () => Promise.resolve(),
          () => Promise.reject(new Error('the database is away')),
        ]) {
          const stop = new AbortController();
          let calls = 0;
          const drained = journal.drain(
            () => {
              calls += 1;
              return record();
            },
            { batchSize: 10, signal: stop.signal },
          );
          await journal.append(entryOf(1));
          await eventually('it drains', () => calls > 0);
          const callsBefore = calls;
          stop.abort();
          await drained;
          expect(calls).toBe(callsBefore);
        }
      }),
    );

    test(
      'an entry that is far too large is refused',
      withSubject(make, async (journal) => {
        const huge = { id: 'huge', body: 'x'.repeat(2 * 1024 * 1024) };
        await expect(journal.append(huge)).rejects.toThrow(RangeError);
        expect(await journal.lag()).toBe(0);
      }),
    );
  });
}
