import type { UsageEvent } from '@model-gateway/contracts';
import { silentLog, type JournalEntry } from '@model-gateway/kernel';
import { createUsageWriter } from './usage-writer.ts';

const eventOf = (id: string): UsageEvent => ({
  id,
  user_id: id,
  key_id: null,
  api_key_id: 'jwt',
  project: null,
  group_id: null,
  model: 'm',
  backend: 'gateway',
  prompt_tokens: 1,
  completion_tokens: 1,
  total_tokens: 2,
  cost: null,
  multiplier: 1,
  ref_id: null,
  created_at: '2026-03-04T05:06:07.890Z',
});

function setup({ keptMax = 10 } = {}) {
  const written: string[] = [];
  const state = { failure: undefined as Error | undefined, onAttempt: (): void => undefined };
  const writer = createUsageWriter({
    journal: {
      append: async ({ id }: JournalEntry) => {
        state.onAttempt();
        if (state.failure !== undefined) throw state.failure;
        written.push(id);
      },
    },
    log: silentLog,
    retryAfterMs: 1,
    keptMax,
  });
  const attempt = () =>
    new Promise<void>((resolve) => {
      state.onAttempt = resolve;
    });
  return { writer, written, state, attempt };
}

const refused = expect.objectContaining({ code: 'store_unavailable' });

test('events that the journal does not take are written once it does; until then nothing new begins', async () => {
  const { writer, written, state, attempt } = setup();
  await writer.write(eventOf('a'));
  expect(() => writer.assertWritable()).not.toThrow();
  state.failure = new Error('no space left on device');
  await writer.write(eventOf('b'));
  await writer.write(eventOf('c'));
  expect(() => writer.assertWritable()).toThrow(refused);
  await attempt();
  expect(() => writer.assertWritable()).toThrow(refused);
  expect(written).toEqual(['a']);
  state.failure = undefined;
  await attempt();
  await writer.stop();
  expect(() => writer.assertWritable()).not.toThrow();
  expect(written).toEqual(['a', 'b', 'c']);
});

test('stopping tries a last time', async () => {
  const { writer, written, state } = setup();
  state.failure = new Error('no space left on device');
  await writer.write(eventOf('a'));
  state.failure = undefined;
  await writer.stop();
  expect(written).toEqual(['a']);
});

test('an event that no journal can take is not kept, and memory is bounded', async () => {
  const { writer, written, state } = setup({ keptMax: 1 });
  state.failure = new RangeError('too large');
  await writer.write(eventOf('a'));
  expect(() => writer.assertWritable()).not.toThrow();
  state.failure = new Error('no space left on device');
  await writer.write(eventOf('b'));
  await writer.write(eventOf('c'));
  state.failure = undefined;
  await writer.stop();
  expect(written).toEqual(['b']);
});
