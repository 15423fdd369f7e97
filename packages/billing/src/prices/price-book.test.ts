import { setImmediate } from 'node:timers/promises';
import { silentLog } from '@model-gateway/kernel';
import { createPriceBook, type PriceBook } from './price-book.ts';
import { PRICES_CHANNEL } from './price-store.ts';
import { costAt, pricesWith, tokenRates, type StoredPrice } from './prices.ts';

const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 };
const price = (pattern: string, perMillion: number): StoredPrice => ({
  pattern,
  backend: null,
  ...tokenRates(perMillion, perMillion),
  source: 'override',
});

/** Null without a price. */
function costOf(book: PriceBook, model: string): number | null {
  const found = book.priceOf(model);
  return found === undefined ? null : costAt(found, usage);
}

interface Opened {
  readonly book: PriceBook;
  readonly storeChanged: () => void;
  readonly announce: () => void;
}

function openBook(list: () => Promise<readonly StoredPrice[]>, reloadEveryMs?: number): Opened {
  const listeners = new Map<string, (message: string) => void>();
  let storeChanged = (): void => undefined;
  const book = createPriceBook({
    store: { list },
    channels: {
      subscribe(channel, listener) {
        listeners.set(channel, listener);
        return Promise.resolve({
          close: () => Promise.resolve(void listeners.delete(channel)),
        });
      },
    },
    onStoreChange(listener) {
      storeChanged = listener;
      return () => undefined;
    },
    log: silentLog,
    ...(reloadEveryMs === undefined ? {} : { reloadEveryMs }),
  });
  return {
    book,
    announce: () => listeners.get(PRICES_CHANNEL)?.('gpt-4o'),
    storeChanged: () => storeChanged(),
  };
}

test('the longest match counts over built-in prices and overrides together', async () => {
  const overrides = [
    price('gpt', 1),
    price('gpt-4o', 2),
    price('demo', 3),
    price('gpt-4o-mini-2', 4),
  ];
  const { book } = openBook(() => Promise.resolve(overrides));
  expect(costOf(book, 'demo-chat')).toBeNull();
  await book.start();
  expect(costOf(book, 'Demo-Chat')).toBe(6);
  expect(costOf(book, 'gpt-4o')).toBe(4);
  expect(costOf(book, 'gpt-4o-mini')).toBe(0.75);
  expect(costOf(book, 'gpt-4o-mini-2024-07-18')).toBe(8);
  expect(book.priceOf('gpt-x')?.record.pattern).toBe('gpt');
  expect(book.priceOf('unknown')).toBeUndefined();
  await book.stop();
});

test('a price of zero is a price', async () => {
  const { book } = openBook(() => Promise.resolve([price('demo-chat', 0)]));
  await book.start();
  expect(costOf(book, 'demo-chat')).toBe(0);
  await book.stop();
});

test('a list says which prices are built in and which were laid over them, each pattern once', () => {
  const listed = pricesWith([price('gpt-4o', 2), price('demo', 3)]);
  expect(listed.filter(({ pattern }) => pattern === 'gpt-4o')).toEqual([price('gpt-4o', 2)]);
  expect(listed.find(({ pattern }) => pattern === 'gpt-4o-mini')?.source).toBe('built-in');
  expect(listed.at(-1)).toEqual(price('demo', 3));
});

test('a change that is announced while the store is being read is not missed', async () => {
  let stored = [price('demo', 1)];
  const answers: (() => void)[] = [];
  const { book, announce } = openBook(() => {
    const seen = stored;
    return new Promise((resolve) => answers.push(() => resolve(seen)));
  });
  const answerNext = async (): Promise<void> => {
    await setImmediate();
    answers.shift()?.();
  };
  const started = book.start();
  await setImmediate();
  stored = [price('demo', 5)];
  announce();
  announce();
  await answerNext();
  await started;
  expect(costOf(book, 'demo')).toBe(2);
  const reloaded = book.reload();
  await answerNext();
  await answerNext();
  await reloaded;
  expect(costOf(book, 'demo')).toBe(10);
  expect(answers).toEqual([]);
  await book.stop();
});

test('when announcements may have been missed the store is read again', async () => {
  let stored = [price('demo', 1)];
  const { book, storeChanged } = openBook(() => Promise.resolve(stored));
  await book.start();
  stored = [price('demo', 2)];
  storeChanged();
  await setImmediate();
  expect(costOf(book, 'demo')).toBe(4);
  await book.stop();
});

test('what cannot be read stays as it was, and is read by and by', async () => {
  let answer: () => Promise<readonly StoredPrice[]> = () =>
    Promise.reject(new Error('unavailable'));
  let onRead: () => void = () => undefined;
  const { book } = openBook(() => {
    onRead();
    return answer();
  }, 1);
  await book.start();
  expect(costOf(book, 'gpt-4o')).toBe(12.5);
  answer = () => Promise.resolve([price('gpt-4o', 1)]);
  await new Promise<void>((resolve) => {
    onRead = resolve;
  });
  await book.reload();
  expect(costOf(book, 'gpt-4o')).toBe(2);
  answer = () => Promise.reject(new Error('away again'));
  await book.reload();
  expect(costOf(book, 'gpt-4o')).toBe(2);
  await book.stop();
});

test('a price is found again for another kind of the same backend, and after a change', async () => {
  let stored = [price('m', 1)];
  const { book } = openBook(() => Promise.resolve(stored));
  await book.start();
  expect(book.priceOf('m', { name: 'one' })?.inputPerMillion).toBe(1);
  expect(book.priceOf('m', { name: 'one', facts: { isFree: true } })?.source).toBe('local');
  expect(book.priceOf('m', { name: 'one' })?.source).toBe('override');
  stored = [{ ...price('m', 2), backend: 'one' }];
  await book.reload();
  expect(book.priceOf('m', { name: 'one', facts: { isFree: true } })?.inputPerMillion).toBe(2);
  expect(book.priceOf('m')).toBeUndefined();
  await book.stop();
});
