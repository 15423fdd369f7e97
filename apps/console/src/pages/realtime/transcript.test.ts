import { asked, EMPTY, soundOf, withEvent, type Transcript } from './transcript.ts';

const after = (events: readonly object[], from: Transcript = asked(EMPTY, 1000)): Transcript =>
  events.reduce<Transcript>((state, event, place) => withEvent(state, event, 1200 + place), from);

test.each([
  ['response.audio_transcript.delta', 'response.audio.delta'],
  ['response.output_audio_transcript.delta', 'response.output_audio.delta'],
])('an answer in %s is put together, with its first sound and its tokens', (words, sound) => {
  const { said } = after([
    { type: 'session.created' },
    { type: 'response.created' },
    { type: sound, delta: 'AAA=' },
    { type: words, delta: 'Hel' },
    { type: words, delta: 'lo.' },
    {
      type: 'response.done',
      response: { status: 'completed', usage: { input_tokens: 3, output_tokens: 8 } },
    },
  ]);
  expect(said).toEqual([
    { who: 'user', text: '', state: 'done' },
    { who: 'model', text: 'Hello.', state: 'done', firstMs: 202, inputTokens: 3, outputTokens: 8 },
  ]);
});

test('what the upstream understood is the text of the question', () => {
  const type = 'conversation.item.input_audio_transcription.completed';
  expect(after([{ type, transcript: 'What is this?' }]).said[0]?.text).toBe('What is this?');
});

test.each([
  ['cancelled', 'stopped'],
  ['failed', 'failed'],
  ['incomplete', 'done'],
])('a response that is %s is shown as %s', (status, state) => {
  const { said } = after([
    { type: 'response.created' },
    { type: 'response.done', response: { status, usage: null } },
  ]);
  expect(said.at(-1)?.state).toBe(state);
});

test('an error of the upstream is shown until the next question', () => {
  const failed = after([{ type: 'error', error: { message: 'buffer too small' } }]);
  expect(failed.problem).toBe('buffer too small');
  expect(asked(failed, 2000).problem).toBeUndefined();
});

test('events without a response change nothing', () => {
  expect(after([{ type: 'response.text.delta', delta: 'x' }, { type: 'response.done' }])).toEqual(
    asked(EMPTY, 1000),
  );
});

test('only sound is played', () => {
  expect(soundOf({ type: 'response.audio.delta', delta: 'AAA=' })).toBe('AAA=');
  expect(soundOf({ type: 'response.text.delta', delta: 'AAA=' })).toBeUndefined();
});
