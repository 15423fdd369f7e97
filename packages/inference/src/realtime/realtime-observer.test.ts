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
      cachedTokens: 1,
      mediaTokens: { audio_input: 6, cached_audio_input: 0, audio_output: 0, image_output: 0 },
    },
    {
      why: 'sums up the older details where it does not',
      usage: { ...older, output_tokens_details: { audio_tokens: 2, image_tokens: 1 } },
      expected: tokens(7, 3),
      cachedTokens: 1,
      mediaTokens: { audio_input: 6, cached_audio_input: 0, audio_output: 2, image_output: 1 },
    },
    {
      why: 'sums up the current details where it does not',
      usage: { ...current, output_token_details: { text_tokens: 4 } },
      expected: tokens(7, 4),
      cachedTokens: 1,
      mediaTokens: { audio_input: 6, cached_audio_input: 0, audio_output: 0, image_output: 0 },
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
    { why: 'is nothing where none is reported', usage: null },
  ])('$why', ({ usage, expected, cachedTokens, mediaTokens }) => {
    expect(observed([done(usage)])).toEqual([
      { usage: expected, ending: 'complete', transcript: undefined, cachedTokens, mediaTokens },
    ]);
  });

  test('says which of its tokens are audio', () => {
    const usage = {
      input_tokens: 9,
      output_tokens: 8,
      input_token_details: { audio_tokens: 7, cached_tokens_details: { audio_tokens: 2 } },
      output_token_details: { audio_tokens: 6 },
    };
    expect(observed([done(usage)])).toMatchObject([
      { mediaTokens: { audio_input: 7, cached_audio_input: 2, audio_output: 6, image_output: 0 } },
    ]);
  });

  test('of a tagged session is recorded also without tokens', () => {
    for (const event of [done(null), done({ input_tokens: 0 }), { type: 'response.done' }]) {
      expect(observed([event], 'order-7')).toEqual([
        { usage: tokens(0, 0), ending: 'complete', transcript: undefined },
      ]);
    }
  });
});

describe('an unfinished response is estimated', () => {
  const created = (id: string) => ({ type: 'response.created', response: { id } });
  const delta = (text: string, response_id?: string) => ({
    type: 'response.output_text.delta',
    delta: text,
    ...(response_id === undefined ? {} : { response_id }),
  });
  const tokens = (prompt: number, completion: number) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  });
  const request = (text: string) => ({
    type: 'response.create',
    response: {
      input: [
        {
          content: [
            { type: 'input_text', text },
            { type: 'input_image', detail: 'low' },
          ],
        },
      ],
    },
  });
  const heard = {
    type: 'conversation.item.input_audio_transcription.completed',
    transcript: 'four',
  };
  function unfinished(
    events: readonly Readonly<Record<string, unknown>>[],
    sent: readonly Readonly<Record<string, unknown>>[] = [],
  ) {
    const observer = createRealtimeObserver({ refId: null });
    for (const event of sent) observer.sent(event);
    for (const event of events) observer.observe(event);
    return observer.takeUnfinished({ isLost: false }).flatMap(({ usage }) => usage ?? []);
  }

  test('with what was sent before it, also images and user audio', () => {
    const image = { type: 'input_image_buffer.append', image: 'AAAA' };
    expect(unfinished([created('a'), delta('12345', 'a')], [request('four')])).toEqual([
      tokens(86, 2),
    ]);
    expect(unfinished([heard, created('a')], [image])).toEqual([tokens(766, 0)]);
  });

  test('with what the user said, by its audio or else by its transcript', () => {
    // Two seconds of PCM16 with 16 kHz.
    const audio = Buffer.alloc(64_000).toString('base64');
    const spoken = [
      { type: 'input_audio_buffer.append', audio },
      { type: 'input_audio_buffer.commit' },
      { type: 'response.create' },
    ];
    const committed = { type: 'input_audio_buffer.committed', item_id: 'i' };
    expect(unfinished([], spoken)).toEqual([tokens(20, 0)]);
    expect(unfinished([committed, heard, created('a')], spoken)).toEqual([tokens(20, 0)]);
    expect(unfinished([heard, created('a')])).toEqual([tokens(1, 0)]);
  });

  test('with the settings of the response itself, where it has some', () => {
    const session = { instructions: 'twelve chars' };
    const sent = [
      { type: 'session.update', session },
      { type: 'response.create', response: { instructions: 'four' } },
    ];
    expect(unfinished([created('a')], sent)).toEqual([tokens(1, 0)]);
    expect(unfinished([created('a'), created('b')], sent)).toEqual([tokens(1, 0), tokens(3, 0)]);
  });

  test('with the usage that an earlier response reported', () => {
    const earlier = done({ input_tokens: 100, output_tokens: 20 }, 'a');
    const events = [created('a'), delta('12345', 'a'), earlier, created('b'), delta('1234', 'b')];
    expect(unfinished(events)).toEqual([tokens(120, 1)]);
  });

  test('with its whole texts, where there are no deltas', () => {
    const whole = { type: 'response.audio_transcript.done', response_id: 'a', transcript: '12345' };
    expect(unfinished([created('a'), whole])).toEqual([tokens(0, 2)]);
    expect(unfinished([created('a'), delta('12345', 'a'), whole])).toEqual([tokens(0, 2)]);
  });

  test('also without ids, and side by side with others', () => {
    expect(unfinished([created('a'), delta('1234'), delta('5678')])).toEqual([tokens(0, 2)]);
    expect(unfinished([delta('1234'), delta('5678')])).toEqual([tokens(0, 2)]);
    const events = [created('a'), created('b'), delta('1234', 'a'), delta('12345678', 'b')];
    expect(unfinished(events)).toEqual([tokens(0, 1), tokens(0, 2)]);
    expect(unfinished([...events, done(undefined, 'a')])).toEqual([tokens(0, 2)]);
  });

  test('but not when it has ended, whatever comes after it, or when it was refused', () => {
    expect(unfinished([created('a'), done(undefined, 'a'), delta('1234', 'a')])).toEqual([]);
    expect(unfinished([delta('1234'), done(undefined, 'a')])).toEqual([]);
    const refused = { type: 'error', error: { message: 'no' } };
    expect(unfinished([refused], [request('four')])).toEqual([]);
    expect(unfinished([], [request('four')])).toEqual([tokens(86, 0)]);
  });

  test.each([
    { status: 'cancelled', usage: null, expected: [tokens(0, 2)] },
    { status: 'incomplete', usage: undefined, expected: [tokens(0, 2)] },
    { status: 'cancelled', usage: { input_tokens: 4, output_tokens: 1 }, expected: [tokens(4, 1)] },
    { status: 'failed', usage: null, expected: [] },
    { status: 'completed', usage: null, expected: [] },
  ])('when it ends as $status with the usage $usage', ({ status, usage, expected }) => {
    const end = { type: 'response.done', response: { id: 'a', status, usage } };
    const ended = observed([created('a'), delta('12345', 'a'), end]);
    expect(ended.flatMap((response) => response.usage ?? [])).toEqual(expected);
    const endings: Readonly<Record<string, string>> = { cancelled: 'left', failed: 'interrupted' };
    expect(ended).toMatchObject([{ ending: endings[status] ?? 'complete' }]);
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
    expect(observer.takeUnfinished({ isLost: false })).toEqual([
      { usage: undefined, ending: 'left', transcript: 'A' },
      { ending: 'left', usage: { prompt_tokens: 0, completion_tokens: 1, total_tokens: 1 } },
    ]);
    expect(observer.takeUnfinished({ isLost: false })).toEqual([]);
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
    const texts = observer
      .takeUnfinished({ isLost: false })
      .flatMap(({ transcript }) => transcript ?? []);
    expect(texts).toHaveLength(16);
    expect(texts[0]).toHaveLength(800_000);
  });
});

describe('what the next response is expected to use', () => {
  const text = 'word '.repeat(400);
  const update = (session: unknown) => ({ type: 'session.update', session });
  const create = (response?: unknown) => ({ type: 'response.create', response });

  test.each([
    { why: '256 tokens where nothing is said', sent: [create()], output: 256, isLong: false },
    {
      why: 'the instructions and the maximum of the session',
      sent: [update({ instructions: text, max_output_tokens: 3_000 }), create()],
      output: 3_000,
      isLong: true,
    },
    {
      why: 'the older name of the maximum',
      sent: [update({ max_response_output_tokens: 2_000 })],
      output: 2_000,
      isLong: false,
    },
    {
      why: 'what the response itself says',
      sent: [
        update({ max_output_tokens: 10 }),
        create({ instructions: text, max_output_tokens: 4_000 }),
      ],
      output: 4_000,
      isLong: true,
    },
    {
      why: 'the tools',
      sent: [update({ tools: [{ type: 'function', name: 'f', description: text }] })],
      output: 256,
      isLong: true,
    },
    {
      why: '256 tokens without a maximum',
      sent: [update({ max_output_tokens: 10 }), create({ max_output_tokens: 'inf' })],
      output: 256,
      isLong: false,
    },
    {
      why: 'no maximum that is none',
      sent: [update({ max_output_tokens: -1, max_response_output_tokens: null })],
      output: 256,
      isLong: false,
    },
  ])('$why', ({ sent, output, isLong }) => {
    const observer = createRealtimeObserver({ refId: null });
    for (const event of sent) observer.sent(event);
    const { promptTokens, completionTokens } = observer.expected();
    expect(completionTokens).toBe(output);
    expect(promptTokens > 300).toBe(isLong);
  });

  test('the one after it reads what was said before', () => {
    const observer = createRealtimeObserver({ refId: null });
    observer.sent(create({ max_output_tokens: 9_000 }));
    observer.observe({ type: 'response.created', response: { id: 'resp_1' } });
    observer.observe(done({ input_tokens: 500, output_tokens: 100, total_tokens: 600 }));
    expect(observer.expected()).toEqual({ promptTokens: 600, completionTokens: 256 });
  });
});
