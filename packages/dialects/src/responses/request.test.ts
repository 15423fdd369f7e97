import { turnOfChat } from '../chat/read-request.ts';
import { AGENT_REQUEST } from './fixtures/agent-request.ts';
import { responsesRequestSchema, type ResponsesRequest } from './request.ts';

const read = (body: object): ResponsesRequest => responsesRequestSchema.parse(body);

describe('a request of an agent', () => {
  it('becomes one turn, with every tool as a function', () => {
    const { chat } = read(AGENT_REQUEST);
    expect(chat).toMatchObject({
      model: 'm',
      stream: true,
      max_tokens: 500,
      temperature: 0.5,
      top_p: 0.9,
      user: 'u1',
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      verbosity: 'low',
      service_tier: 'flex',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'out', schema: { type: 'object' }, strict: true },
      },
    });
    const turn = turnOfChat(chat);
    expect(turn.tools.map(({ name }) => name)).toEqual([
      'look',
      'apply_patch',
      'local_shell',
      'files__get',
    ]);
    expect(turn.tools[1]?.description).toContain('lark grammar:\nstart: "*"');
    expect(turn.messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'You are an agent.' }] },
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'See' },
          {
            type: 'image',
            source: { type: 'data', mediaType: 'image/png', data: 'AA==' },
            detail: 'low',
          },
          {
            type: 'file',
            source: { type: 'data', mediaType: 'application/pdf', data: 'AA==' },
            name: 'a.pdf',
          },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_call', id: 'c1', name: 'look', arguments: '{"a":1}' },
          {
            type: 'tool_call',
            id: 'c2',
            name: 'apply_patch',
            arguments: '{"input":"*** Begin\\n"}',
          },
          {
            type: 'tool_call',
            id: 'c3',
            name: 'local_shell',
            arguments: '{"command":["ls"],"env":{}}',
          },
          { type: 'tool_call', id: 'c4', name: 'files__get', arguments: '{}' },
        ],
      },
      { role: 'tool', callId: 'c1', parts: [{ type: 'text', text: 'a cat' }] },
      { role: 'tool', callId: 'c2', parts: [{ type: 'text', text: 'Done' }] },
      { role: 'tool', callId: 'c3', parts: [{ type: 'text', text: 'a.txt' }] },
      { role: 'tool', callId: 'c4', parts: [{ type: 'text', text: 'nothing' }] },
    ]);
  });

  it('names what is left out', () => {
    const further = { max_tool_calls: 3, logit_bias: {}, 'a b': 1, moderation: null };
    expect(read({ ...AGENT_REQUEST, ...further }).ignored).toEqual([
      'truncation',
      'max_tool_calls',
      'prompt_cache_key',
      'logit_bias',
      'unknown-field',
      'web_search',
      'image_generation',
    ]);
  });
});

const tools = AGENT_REQUEST.tools ?? [];
const hello = { model: 'm', input: 'Hello' };

const USER = { role: 'user', content: 'Hi' };

test.each([
  { named: 'input', body: { model: 'm' } },
  { named: 'input', body: { model: 'm', input: 7 } },
  { named: 'input.1.id', body: { model: 'm', input: [USER, { type: 'item_reference' }] } },
  { named: 'input.1.id', body: { model: 'm', input: [USER, { text: 'Hi' }] } },
  { named: 'background', body: { ...hello, background: true } },
  { named: 'conversation', body: { ...hello, conversation: 'conv_1' } },
  { named: 'prompt', body: { ...hello, prompt: { id: 'pmpt_1' } } },
  { named: 'include.0', body: { ...hello, include: ['everything'] } },
  { named: 'text.format.schema', body: { ...hello, text: { format: { type: 'json_schema' } } } },
  { named: 'max_output_tokens', body: { ...hello, max_output_tokens: -1 } },
  { named: 'metadata', body: { ...hello, metadata: 'x' } },
])('$named that no upstream may get is refused by name', ({ named, body }) => {
  const { issues = [] } = responsesRequestSchema.safeParse(body).error ?? {};
  expect(issues.map(({ path }) => path.join('.'))).toEqual([named]);
});

test.each([
  { named: 'input.0.type', body: { model: 'm', input: [{ type: 'computer_call_output' }] } },
  { named: 'input.0.role', body: { model: 'm', input: [{ role: 'tool', content: 'x' }] } },
  {
    named: 'input.0.content.0.type',
    body: { model: 'm', input: [{ role: 'user', content: [{ type: 'video' }] }] },
  },
  {
    named: 'input.0.content.0.image_url',
    body: {
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }],
    },
  },
  { named: 'input.0.call_id', body: { model: 'm', input: [{ type: 'function_call_output' }] } },
  { named: 'tools.0.type', body: { ...hello, tools: [{ type: 'telepathy' }] } },
  { named: 'tools.0.name', body: { ...hello, tools: [{ type: 'function' }] } },
  { named: 'tool_choice', body: { ...hello, tool_choice: { type: 'function', name: 'x' } } },
])(
  '$named that cannot be translated is a refusal by name for other upstreams',
  ({ named, body }) => {
    const { refusal } = read(body);
    expect(refusal?.code).toBe('missing_fields');
    expect(refusal?.message).toMatch(`'${named}': `);
  },
);

test('what can be translated beside a refusal still counts in estimates', () => {
  const input = [{ role: 'user', content: 'Look' }, { type: 'computer_call_output' }];
  const { chat, refusal } = read({ model: 'm', input, tools, tool_choice: { type: 'mcp' } });
  expect(refusal?.code).toBe('unsupported_tool');
  expect(chat.messages).toEqual([{ role: 'user', content: 'Look' }]);
  expect(chat['tools']).toHaveLength(4);
});

test.each([
  { choice: { type: 'web_search_preview' } },
  { choice: { type: 'mcp', server_label: 's' } },
  { choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'file_search' }] } },
])('a hosted tool that is demanded is refused: $choice.type', ({ choice }) => {
  const { refusal } = read({ ...hello, tools, tool_choice: choice });
  expect(refusal?.code).toBe('unsupported_tool');
});

test.each([
  { choice: 'required', made: 'required', names: 4 },
  { choice: { type: 'function', name: 'get' }, made: { name: 'files__get' }, names: 4 },
  { choice: { type: 'custom', name: 'apply_patch' }, made: { name: 'apply_patch' }, names: 4 },
  {
    choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }] },
    made: 'auto',
    names: 1,
  },
])('the choice $choice is made among the functions', ({ choice, made, names }) => {
  const turn = turnOfChat(read({ ...hello, tools, tool_choice: choice }).chat);
  expect(turn.toolChoice).toEqual(made);
  expect(turn.tools).toHaveLength(names);
});

test('a thought that another service encrypted is left out by name', () => {
  const thought = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' };
  const { ignored, chat } = read({ model: 'm', input: [thought, { role: 'user', content: 'x' }] });
  expect(ignored).toEqual(['input.encrypted_content']);
  expect(chat.messages).toHaveLength(1);
});

test('a long name in a namespace stays unique within the limit of upstreams', () => {
  const names = ['a', 'b'].map((end) => ({ type: 'function', name: `${'x'.repeat(63)}${end}` }));
  const long = { type: 'namespace', name: 'mcp', description: '', tools: names };
  const turn = turnOfChat(read({ ...hello, tools: [long] }).chat);
  const [one = '', other = ''] = turn.tools.map(({ name }) => name);
  expect([one.length, other.length]).toEqual([64, 64]);
  expect(one).not.toBe(other);
});
