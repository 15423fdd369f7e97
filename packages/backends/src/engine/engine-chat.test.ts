import { manualClock } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { engineParts } from './engine-chat.ts';
import type { EngineChatChunk } from './engine-frames.ts';

const frame = (fields: Partial<EngineChatChunk>): EngineChatChunk => ({
  chat_id: 'c',
  delta: undefined,
  tool_calls: undefined,
  done: false,
  finish_reason: undefined,
  usage: undefined,
  error: undefined,
  ...fields,
});

test.each([['no memory for "a cat"'], [{ message: 'no memory for "a cat"' }]])(
  'an error in the middle of an answer is for the caller, and not for the log: %j',
  async (error) => {
    async function* frames() {
      yield frame({ delta: 'a' });
      yield frame({ error, done: true });
    }
    const context = { model: 'm', clock: manualClock(0), secret: null };
    const read = async () => {
      for await (const { own } of engineParts(frames(), context))
        expect(own?.value['model']).toBe('m');
    };
    const failure = await read().catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(UpstreamFailure);
    expect(failure).toMatchObject({
      message: 'no memory for "a cat"',
      isBackendAtFault: true,
      loggedAs: 'the engine sent an error in the middle of its answer',
    });
  },
);
