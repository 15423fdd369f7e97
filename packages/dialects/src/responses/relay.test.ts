import { responsesDialect } from './index.ts';
import { responseOfItem } from './item-id.ts';
import {
  completeRequest,
  responsesRequestSchema,
  type ResponsesContext,
  type ResponsesRequest,
} from './request.ts';
import type { Item } from './body.ts';

const id = `resp_${'0a'.repeat(16)}`;
const stored = (item: string) => item.replace('_', `_${'0a'.repeat(16)}u`);

const completed = (body: object, more: Partial<ResponsesContext> = {}): ResponsesRequest =>
  completeRequest(responsesRequestSchema.parse(body), {
    id,
    createdAt: 5,
    isStored: true,
    previous: [],
    referenced: new Map(),
    ...more,
  });

describe('a request for an upstream that speaks the API', () => {
  const tools = [{ type: 'web_search' }, { type: 'function', name: 'look' }];
  const sent = {
    model: 'm',
    models: ['n'],
    conversation_id: 'c',
    extra: { seed: 7, input: 'no' },
    tools,
    tool_choice: { type: 'web_search' },
    prompt_cache_key: 'k',
    include: ['web_search_call.action.sources'],
    reasoning: { effort: 'low' },
    temperature: null,
    store: true,
    previous_response_id: 'resp_1',
    stream: true,
    input: 'And?',
    future: { a: 1 },
  };
  const previous: readonly Item[] = [
    { type: 'message', role: 'user', id: `msg_${'0b'.repeat(16)}i0`, content: [] },
    { type: 'reasoning', id: stored('rs_1'), summary: [], encrypted_content: 'gAAA' },
    { type: 'reasoning', id: `rs_${'0b'.repeat(16)}1`, summary: [], encrypted_content: 'gw1.x' },
    { type: 'computer_call', id: 'cu_1' },
  ];
  const request = completed(sent, { previous });

  it.each(['text', ['item'], 7, true])('ignores %j as extra', (extra) => {
    const { own } = completed({ model: 'm', input: 'And?', future: 1, extra });
    expect(own.bodyWith([])).toEqual({ future: 1, input: [expect.anything()] });
  });

  it('has what the client sent, and the earlier items as the upstream knows them', () => {
    expect(request.own.bodyWith([])).toEqual({
      seed: 7,
      tools,
      tool_choice: { type: 'web_search' },
      prompt_cache_key: 'k',
      include: ['web_search_call.action.sources', 'reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
      future: { a: 1 },
      input: [
        { type: 'message', role: 'user', content: [] },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
        { type: 'computer_call', id: 'cu_1' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
      ],
    });
    expect(request.ignoredInRelay).toEqual(['input.reasoning']);
  });

  it('is refused for other upstreams', () => {
    expect(request.own).toMatchObject({ api: 'responses', refusal: { code: 'unsupported_tool' } });
  });

  it('asks for no encrypted thoughts of a model that may not think', () => {
    const { own } = completed({ model: 'm', input: 'Hi' });
    expect(own.bodyWith([])).not.toHaveProperty('include');
  });
});

const response = {
  id: 'resp_up',
  object: 'response',
  status: 'completed',
  model: 'up',
  store: false,
  previous_response_id: null,
  output: [{ type: 'message', id: 'msg_1', content: [] }, { type: 'unknown' }],
};
const counted = { promptTokens: 9, completionTokens: 4 };

test('a response gets the id of the gateway, and its usage where it has none', () => {
  const request = completed({ model: 'm', input: 'Hi', previous_response_id: 'resp_1' });
  expect(responsesDialect.relayAnswer(response, request, counted)).toMatchObject({
    id,
    store: true,
    model: 'up',
    previous_response_id: 'resp_1',
    output: [{ id: stored('msg_1') }, { type: 'unknown' }],
    usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
  });
  expect(responseOfItem(stored('msg_1'))).toBe(id);
  const unstored = completed({ model: 'm', input: 'Hi' }, { isStored: false });
  const usage = { input_tokens: 1 };
  expect(responsesDialect.relayAnswer({ ...response, usage }, unstored, counted)).toMatchObject({
    id,
    store: false,
    output: response.output,
    usage,
  });
});

describe('a stream', () => {
  const head = { id: 'x', model: 'm', created: 1, promptTokens: () => 1 };
  const created = { type: 'response.created', response, sequence_number: 0 };
  const delta = {
    output_index: 0,
    content_index: 0,
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    delta: 'a\nb',
  };
  const open = (signs = 0) => {
    const request = completed({ model: 'm', input: 'Hi' });
    const stream = responsesDialect.relayStream(request, signs);
    if (stream === undefined) throw new Error('the API is not relayed');
    return stream;
  };
  const parsed = (text: string): readonly Item[] =>
    text
      .split('\n\n')
      .filter((block) => block !== '')
      .map((block) => JSON.parse(block.split('\ndata: ')[1] ?? '') as Item);

  it('relays events, and keeps the last one until the response is stored', () => {
    const stream = open();
    expect(stream.begin(head)).toBe('');
    expect(parsed(stream.relay(created))).toMatchObject([{ ...created, response: { id } }]);
    expect(stream.relay({ ...delta, sequence_number: 1 })).toBe(
      `event: response.output_text.delta\ndata: ${JSON.stringify({
        ...delta,
        item_id: stored('msg_1'),
        sequence_number: 1,
      })}\n\n`,
    );
    const ending = { type: 'response.incomplete', response, sequence_number: 2 };
    expect(stream.relay(ending)).toBe('');
    stream.write({ type: 'usage', usage: counted });
    expect(stream.answer?.()).toMatchObject({ id, usage: { total_tokens: 13 } });
    const [last, mark] = stream.end({ kept: true }).split('\n\n');
    expect(parsed(last ?? '')).toEqual([{ ...ending, response: { kept: true } }]);
    expect(mark).toBe('data: [DONE]');
  });

  it('gives events the numbers and indexes that llama.cpp leaves out', () => {
    const stream = open();
    const added = (own: string) => ({ type: 'response.output_item.added', item: { id: own } });
    const of = (own: string, type: string) => ({
      type: `response.${type}`,
      item_id: own,
      delta: '',
    });
    const events = [
      added('rs_1'),
      of('rs_1', 'reasoning_text.delta'),
      added('fc_2'),
      of('fc_2', 'function_call_arguments.delta'),
      { type: 'response.output_item.done', item: { id: 'rs_1' } },
    ];
    const relayed = events.flatMap((event) => parsed(stream.relay(event)));
    expect(relayed.map((event) => [event['sequence_number'], event['output_index']])).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 0],
    ]);
    expect(relayed.map((event) => event['content_index'])).toEqual([
      undefined,
      0,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('goes on where signs of life began it', () => {
    const stream = open(2);
    const item = { type: 'message', id: 'msg_1', status: 'completed' };
    const events = [
      created,
      { type: 'response.in_progress', response, sequence_number: 1 },
      { type: 'response.output_item.done', output_index: 0, item, sequence_number: 2 },
    ];
    const text = [...events.map((event) => stream.relay(event)), stream.alive()].join('');
    const relayed = parsed(text + stream.relay({ ...delta, sequence_number: 3 }));
    expect(relayed.map(({ sequence_number: number }) => number)).toEqual([3, 4, 5, 6]);
    expect(relayed[2]).toMatchObject({
      type: 'response.in_progress',
      response: { id, output: [{ ...item, id: stored('msg_1') }] },
    });
  });

  it.each([
    { why: 'without an event about it', relayed: [], added: ['error', 'response.failed'] },
    { why: 'after an error', relayed: [{ type: 'error', code: 'x' }], added: ['response.failed'] },
    {
      why: 'after a failure',
      relayed: [{ type: 'response.failed', response: { ...response, status: 'failed' } }],
      added: ['response.failed'],
    },
  ])('that breaks off $why ends in a failed response', ({ relayed, added }) => {
    const stream = open();
    stream.relay(created);
    for (const event of relayed) stream.relay(event);
    const text = stream.fail({ message: 'broken', requestId: 'r' });
    expect(text).not.toContain('[DONE]');
    const events = parsed(text);
    expect(events.map(({ type }) => type)).toEqual(added);
    expect(events.at(-1)).toMatchObject({ response: { id, status: 'failed' } });
  });
});
