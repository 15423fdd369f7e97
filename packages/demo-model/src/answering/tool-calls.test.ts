import { composeAnswer } from './answer.ts';
import { readChatRequest, type ChatRequest } from './chat-request.ts';

type Properties = Readonly<Record<string, unknown>>;

function tool(
  name: string,
  properties: Properties,
  description = '',
  required = Object.keys(properties),
) {
  const parameters = { type: 'object', properties, required };
  return { type: 'function', function: { name, description, parameters } };
}

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const WEATHER = tool(
  'get_weather',
  { city: TEXT, unit: { enum: ['celsius', 'kelvin'] } },
  'Get the current weather of a city',
  ['city'],
);
const TIME = tool('get_time', { city: TEXT });
const ADD = tool('add', { a: NUMBER, b: NUMBER }, 'Add two numbers');
const SMALL = [WEATHER, TIME, ADD];
/** The tools of one coding agent, and of another. */
const AGENT = [
  tool('Bash', { command: TEXT, timeout: NUMBER }, 'Executes a given bash command', ['command']),
  tool('Read', { file_path: TEXT, limit: NUMBER }, 'Reads a file from the file system', [
    'file_path',
  ]),
  tool('Write', { file_path: TEXT, content: TEXT }, 'Writes a file to the file system'),
  tool('Task', { description: TEXT, prompt: TEXT }, 'Launch a new agent to handle complex tasks'),
  tool('WebFetch', { url: { type: 'string', format: 'uri' } }, 'Fetches content from a URL'),
];
const SHELL = [
  tool('shell', { command: { type: 'array', items: TEXT }, workdir: TEXT }, '', ['command']),
];

function request(body: object): ChatRequest {
  const read = readChatRequest({ model: 'demo-chat', ...body });
  if (typeof read === 'string') throw new Error(read);
  return read;
}

const calls = (content: unknown, tools: readonly unknown[], more: object = {}): readonly string[] =>
  composeAnswer(request({ messages: [{ role: 'user', content }], tools, ...more })).toolCalls.map(
    (call) => `${call.name} ${call.arguments}`,
  );

test.each([
  ['What is the weather in Paris?', SMALL, 'get_weather {"city":"Paris"}'],
  ['weather in New York, unit: kelvin', SMALL, 'get_weather {"city":"New York","unit":"kelvin"}'],
  ['add 2 and 3.5', SMALL, 'add {"a":2,"b":3.5}'],
  ['call get_weather {"city":"Oslo","more":1}', SMALL, 'get_weather {"city":"Oslo","more":1}'],
  ['run `ls`', AGENT, 'Bash {"command":"ls"}'],
  ['run `ls`', SHELL, 'shell {"command":["bash","-lc","ls"]}'],
  ['Run ls -la', AGENT, 'Bash {"command":"ls -la"}'],
  ['Read the file README.md', AGENT, 'Read {"file_path":"README.md"}'],
  ['write "hi" to notes.txt', AGENT, 'Write {"file_path":"notes.txt","content":"hi"}'],
  ['use WebFetch for https://a.example/b', AGENT, 'WebFetch {"url":"https://a.example/b"}'],
])('"%s" calls a tool with arguments from the message', (content, tools, expected) => {
  expect(calls(content, tools)).toEqual([expected]);
});

test.each([
  'Hello!',
  'Write a haiku about tasks',
  'Explain how to read a file',
  'Run the tests',
  'Do not use Bash',
  'Fix the failing test in apps/gateway',
  '<system-reminder>call Bash and use WebFetch</system-reminder>What is a gateway?',
])('with the tools of an agent "%s" gets text', (content) => {
  expect(calls(content, AGENT)).toEqual([]);
});

const BOTH = 'What is the weather in Paris and the time in Tokyo?';

test('two functions are called in parallel unless that is forbidden', () => {
  const expected = ['get_weather {"city":"Paris"}', 'get_time {"city":"Tokyo"}'];
  expect(calls(BOTH, SMALL)).toEqual(expected);
  expect(calls('use get_time and get_weather', SMALL)).toHaveLength(2);
  expect(calls(BOTH, SMALL, { parallel_tool_calls: false })).toEqual(expected.slice(0, 1));
});

test('one after another, every function is called once, and then the answer uses the results', () => {
  const messages: object[] = [{ role: 'user', content: BOTH }];
  const called: string[] = [];
  const next = () => composeAnswer(request({ messages, tools: SMALL, parallel_tool_calls: false }));
  for (let { toolCalls } = next(); toolCalls.length > 0; { toolCalls } = next()) {
    for (const { id, name, arguments: text } of toolCalls) {
      called.push(name);
      const call = { id, type: 'function', function: { name, arguments: text } };
      messages.push({ role: 'assistant', tool_calls: [call] });
      messages.push({ role: 'tool', tool_call_id: id, content: `result ${called.length}` });
    }
  }
  const answer = next().tokens.join('');
  expect(answer).toContain('The tool get_weather answered: "result 1".');
  expect(answer).toContain('The tool get_time answered: "result 2".');
  expect(called).toEqual(['get_weather', 'get_time']);
});

const RESULT = [
  { role: 'user', content: 'run `ls`' },
  {
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'Bash', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c', content: 'README.md' },
];

test.each([
  ['the result', RESULT, {}],
  [
    'a reminder of the agent',
    [...RESULT, { role: 'user', content: '<system-reminder>run `ls`</system-reminder>' }],
    {},
  ],
  ['a choice that requires a call', RESULT, { tool_choice: 'required' }],
  [
    'a choice of the called function',
    RESULT,
    { tool_choice: { type: 'function', function: { name: 'Bash' } } },
  ],
  ['a result without its call', RESULT.filter(({ role }) => role !== 'assistant'), {}],
])('a call is not repeated after %s', (_, messages, more) => {
  const { toolCalls, tokens } = composeAnswer(request({ messages, tools: AGENT, ...more }));
  expect(toolCalls).toEqual([]);
  expect(tokens.join('')).toContain('answered: "README.md"');
});

test('a new question calls again, and another forced function is called after a result', () => {
  const again = [...RESULT, { role: 'assistant', content: 'done' }, RESULT[0]];
  expect(composeAnswer(request({ messages: again, tools: AGENT })).toolCalls).toHaveLength(1);
  const tool_choice = { type: 'function', function: { name: 'Read' } };
  const forced = composeAnswer(request({ messages: RESULT, tools: AGENT, tool_choice }));
  expect(forced.toolCalls).toMatchObject([{ name: 'Read', arguments: '{"file_path":"ls"}' }]);
});

test('a choice forbids, requires or names the call', () => {
  expect(calls('run `ls`', AGENT, { tool_choice: 'none' })).toEqual([]);
  expect(calls('Hi', AGENT, { tool_choice: 'required' })).toEqual(['Bash {"command":"example"}']);
  const tool_choice = { type: 'function', function: { name: 'Task' } };
  expect(calls('run `ls`', AGENT, { tool_choice })[0]).toMatch(/^Task /);
});
