import { createRealtimeObserver, type EndedResponse } from './realtime-observer.ts';

const place = { response_id: 'resp_1', item_id: 'item_1', content_index: 0 };
const done = (usage?: unknown, id = 'resp_1') => ({
  type: 'response.done',
  response: { id, status: 'completed', usage },
});

function observed(
  events: readonly Readonly<Record<string, unknown>>[],
  refId: string | null = null,
): readonly EndedResponse[] {
  const observer = createRealtimeObserver({ refId });
  return events.flatMap((event) => observer.observe(event) ?? []);
}

describe('the usage of a response', () => {
  const tokens = (prompt: number, completion: number) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  });
  const older = { input_tokens_details: { text_tokens: 1, audio_tokens: 6, cached_tokens: 1 } };
  const current = { input_token_details: { text_tokens: 1, audio_tokens: 6, cached_tokens: 1 } };

  test.each([
    {
      why: 'counts what the upstream sums up',
      usage: { ...older, input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      expected: tokens(7, 3),
    },
    {
      why: 'sums up the older details where it does not',
      usage: { ...older, output_tokens_details: { audio_tokens: 2, image_tokens: 1 } },
      expected: tokens(7, 3),
    },
    {
      why: 'sums up the current details where it does not',
      usage: { ...current, output_token_details: { text_tokens: 4 } },
      expected: tokens(7, 4),
    },
    {
      why: 'goes by the total where that is all there is',
      usage: { total_tokens: 9 },
      expected: tokens(0, 9),
    },
    {
      why: 'takes what makes no sense for missing',
      usage: { input_tokens: -5, output_tokens: 'many', total_tokens: 1.5 },
      expected: undefined,
    },
    { why: 'is nothing without tokens', usage: { input_tokens: 0, output_tokens: 0 } },
    { why: 'is nothing where none is told', usage: null },
  ])('$why', ({ usage, expected }) => {
    expect(observed([done(usage)])).toEqual([{ usage: expected, transcript: undefined }]);
  });

  test('of a tagged session is recorded also without tokens', () => {
    for (const event of [done(null), done({ input_tokens: 0 }), { type: 'response.done' }]) {
      expect(observed([event], 'order-7')).toEqual([
        { usage: tokens(0, 0), transcript: undefined },
      ]);
    }
  });
});

describe('what the model says', () => {
  test.each([
    'response.audio_transcript',
    'response.output_audio_transcript',
    'response.text',
    'response.output_text',
  ])('is put together from %s', (name) => {
    const [ended] = observed([
      { type: `${name}.delta`, ...place, delta: 'Good ' },
      { type: `${name}.delta`, ...place, delta: 'day' },
      done(),
    ]);
    expect(ended?.transcript).toBe('Good day');
  });

  test('is as the end of the part says, where there is one', () => {
    const said = (type: string, fields: object) => ({ type, ...place, ...fields });
    expect(
      observed([
        said('response.audio_transcript.delta', { delta: 'Goo' }),
        said('response.audio_transcript.done', { transcript: 'Good day' }),
        said('response.text.done', { content_index: 1, text: 'and bye' }),
        done(),
      ]),
    ).toMatchObject([{ transcript: 'Good day\nand bye' }]);
  });

  test('is separate by response, and returned once', () => {
    const delta = (response_id: string, text: string) => ({
      type: 'response.text.delta',
      ...place,
      response_id,
      delta: text,
    });
    const events = [delta('a', 'A'), delta('b', 'B'), done(undefined, 'b')];
    expect(observed(events)).toMatchObject([{ transcript: 'B' }]);
    const observer = createRealtimeObserver({ refId: null });
    for (const event of events) observer.observe(event);
    expect(observer.takeUnfinished()).toEqual(['A']);
    expect(observer.takeUnfinished()).toEqual([]);
  });

  test('is found also where the pieces name no response', () => {
    expect(observed([{ type: 'response.text.delta', delta: 'hi' }, done()])).toMatchObject([
      { transcript: 'hi' },
    ]);
  });

  test('is left out where it is blank, no text, or something else', () => {
    expect(
      observed([
        { type: 'response.text.delta', ...place, delta: '  ' },
        { type: 'response.text.delta', ...place, delta: 7 },
        { type: 'response.audio.delta', ...place, delta: 'AAAA' },
        { type: 'response.function_call_arguments.delta', ...place, delta: '{}' },
        { type: 'conversation.item.input_audio_transcription.delta', ...place, delta: 'user' },
        done(),
      ]),
    ).toMatchObject([{ transcript: undefined }]);
  });

  test('does not take more memory than a long speech', () => {
    const observer = createRealtimeObserver({ refId: null });
    const delta = { type: 'response.text.delta', ...place, delta: 'x'.repeat(400_000) };
    for (let piece = 0; piece < 10; piece += 1) observer.observe(delta);
    for (let other = 0; other < 15; other += 1) {
      observer.observe({ ...delta, response_id: `other_${other}`, delta: 'y' });
    }
    const unfinished = observer.takeUnfinished();
    expect(unfinished).toHaveLength(16);
    expect(unfinished[0]).toHaveLength(800_000);
  });
});
