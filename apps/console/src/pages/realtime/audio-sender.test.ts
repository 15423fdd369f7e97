import { createAudioSender, type ClientEvent } from './audio-sender.ts';
import { bytesOf } from './pcm16.ts';

/** A service whose answers a test gives, one after the other. */
function createScene() {
  const events: ClientEvent[] = [];
  const errors: unknown[] = [];
  let answer: ((error?: Error) => void) | undefined;
  const sender = createAudioSender({
    send: (event) =>
      new Promise<void>((resolve, reject) => {
        events.push(event);
        answer = (error) => (error === undefined ? resolve() : reject(error));
      }),
    onError: (error) => errors.push(error),
  });
  return {
    sender,
    errors,
    shown: () =>
      events.map(({ type, audio }) => (audio === undefined ? type : [...bytesOf(audio)])),
    async answer(error?: Error): Promise<void> {
      answer?.(error);
      // The sender continues after the microtasks of the answer.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
  };
}

test('one event is on its way at a time, and audio that gathers meanwhile is one event', async () => {
  const scene = createScene();
  for (const byte of [1, 2, 3]) scene.sender.sendAudio(Uint8Array.of(byte));
  scene.sender.send({ type: 'input_audio_buffer.commit' });
  scene.sender.send({ type: 'response.create' });
  expect(scene.shown()).toEqual([[1]]);
  await scene.answer();
  expect(scene.shown()).toEqual([[1], [2, 3]]);
  await scene.answer();
  await scene.answer();
  await scene.answer();
  expect(scene.shown()).toEqual([[1], [2, 3], 'input_audio_buffer.commit', 'response.create']);
});

test('a refused event is reported, and what waited behind it is dropped', async () => {
  const scene = createScene();
  scene.sender.send({ type: 'input_audio_buffer.clear' });
  scene.sender.send({ type: 'response.create' });
  await scene.answer(new Error('session not found'));
  expect(scene.errors).toEqual([new Error('session not found')]);
  expect(scene.shown()).toEqual(['input_audio_buffer.clear']);
  scene.sender.send({ type: 'response.cancel' });
  expect(scene.shown()).toEqual(['input_audio_buffer.clear', 'response.cancel']);
});

test('audio that gathers without end is reported instead of kept', () => {
  const scene = createScene();
  for (let second = 0; second < 40; second += 1) scene.sender.sendAudio(new Uint8Array(32_000));
  expect(scene.errors).toHaveLength(1);
});
