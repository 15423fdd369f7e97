import type { NewMessage } from '@model-gateway/accounts';
import { silentLog } from '@model-gateway/kernel';
import { createTurnRecord } from './turn-record.ts';

interface Failing {
  readonly addTurn?: boolean;
  readonly addToTurn?: boolean;
}

function setup(failing: Failing = {}, added = [{ role: 'user' as const, content: 'Hi there' }]) {
  const written: unknown[] = [];
  const unavailable = () => Promise.reject(new Error('unavailable'));
  const record = createTurnRecord({
    conversationId: 'c',
    added,
    log: silentLog,
    store: {
      addTurn: async (id: string, messages: readonly NewMessage[], title?: string) => {
        if (failing.addTurn === true) return unavailable();
        written.push([id, messages, title]);
        return '7';
      },
      addToTurn: async (id: string, turn: string, message: NewMessage) => {
        if (failing.addToTurn === true) return unavailable();
        written.push([id, turn, message]);
        return 'message';
      },
    },
  });
  return { record, written };
}

const reply = { content: 'Hello', toolCalls: [] };

test('the messages are stored first, with a title, and the reply in the same turn', async () => {
  const { record, written } = setup();
  await record.begin();
  expect(written).toEqual([['c', [{ role: 'user', content: 'Hi there' }], 'Hi there']]);
  expect(await record.end(reply, 'm')).toBe('message');
  expect(written[1]).toEqual(['c', '7', { role: 'assistant', content: 'Hello', model: 'm' }]);
});

test('a reply that comes before the beginning is written waits for it', async () => {
  const { record, written } = setup();
  void record.begin();
  await record.end(reply, 'm');
  expect(written).toHaveLength(2);
});

test('an empty turn is not stored', async () => {
  const { record, written } = setup();
  await record.begin();
  expect(await record.end({ content: '', toolCalls: [] }, 'm')).toBeUndefined();
  expect(written).toHaveLength(1);
});

test('a reply to nothing that is written down is a turn of its own', async () => {
  const { record, written } = setup({}, []);
  await record.begin();
  await record.end(reply, 'm');
  expect(written).toEqual([
    ['c', [{ role: 'assistant', content: 'Hello', model: 'm' }], undefined],
  ]);
});

test.each<{ failing: Failing; count: number }>([
  { failing: { addTurn: true }, count: 0 },
  { failing: { addToTurn: true }, count: 1 },
])('a store that is away fails nothing: $failing', async ({ failing, count }) => {
  const { record, written } = setup(failing);
  await record.begin();
  expect(await record.end(reply, 'm')).toBeUndefined();
  expect(written).toHaveLength(count);
});
