import { createSpokenInput } from './spoken-input.ts';

type Event = Readonly<Record<string, unknown>>;

const append = (bytes: number): Event => ({
  type: 'input_audio_buffer.append',
  audio: Buffer.alloc(bytes).toString('base64'),
});
const COMMIT: Event = { type: 'input_audio_buffer.commit' };
const CLEAR: Event = { type: 'input_audio_buffer.clear' };
const COMMITTED: Event = { type: 'input_audio_buffer.committed', item_id: 'i' };
const update = (session: unknown): Event => ({ type: 'session.update', session });
/** Of PCM16 with 16 kHz. */
const SECOND = 32_000;

/** The tokens that each event adds, in the order in which they were sent or came. */
function tokensOf(events: readonly (readonly ['sent' | 'came', Event])[]): number {
  const spoken = createSpokenInput();
  let tokens = 0;
  for (const [direction, event] of events)
    tokens += direction === 'sent' ? spoken.sent(event) : spoken.observe(event);
  return tokens;
}

test('a second of committed audio has ten tokens, however the commit is made', () => {
  expect(tokensOf([['sent', append(3 * SECOND)]])).toBe(0);
  expect(
    tokensOf([
      ['sent', append(SECOND)],
      ['sent', append(2 * SECOND)],
      ['sent', COMMIT],
      ['came', COMMITTED],
    ]),
  ).toBe(30);
  expect(
    tokensOf([
      ['sent', append(3 * SECOND)],
      ['came', COMMITTED],
    ]),
  ).toBe(30);
});

test('what was cleared does not count', () => {
  expect(
    tokensOf([
      ['sent', append(5 * SECOND)],
      ['sent', CLEAR],
      ['sent', append(SECOND)],
      ['sent', COMMIT],
    ]),
  ).toBe(10);
});

test('of audio in which the upstream finds speech, the speech counts', () => {
  expect(
    tokensOf([
      ['sent', append(60 * SECOND)],
      ['came', { type: 'input_audio_buffer.speech_started', audio_start_ms: 50_000 }],
      ['came', { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 52_000 }],
      ['came', COMMITTED],
    ]),
  ).toBe(20);
});

test.each([
  { why: 'telephone audio', session: { input_audio_format: 'g711_ulaw' }, tokens: 40 },
  {
    why: 'telephone audio by its current name',
    session: { audio: { input: { format: { type: 'audio/pcmu' } } } },
    tokens: 40,
  },
  {
    why: 'another rate',
    session: { audio: { input: { format: { type: 'audio/pcm', rate: 24_000 } } } },
    tokens: 7,
  },
  {
    why: 'a rate that no audio has',
    session: { audio: { input: { format: { type: 'audio/pcm', rate: 1e12 } } } },
    tokens: 4,
  },
  { why: 'no format', session: { instructions: 'be brief' }, tokens: 10 },
])('the bytes are read as $why', ({ session, tokens }) => {
  expect(
    tokensOf([
      ['sent', update(session)],
      ['sent', append(SECOND)],
      ['sent', COMMIT],
    ]),
  ).toBe(tokens);
});

test('nonsense counts nothing', () => {
  expect(
    tokensOf([
      ['sent', { type: 'input_audio_buffer.append', audio: 7 }],
      ['came', { type: 'input_audio_buffer.speech_started', audio_start_ms: 'soon' }],
      ['came', { type: 'input_audio_buffer.speech_stopped', audio_end_ms: -1 }],
      ['sent', COMMIT],
      ['sent', update(null)],
    ]),
  ).toBe(0);
});
