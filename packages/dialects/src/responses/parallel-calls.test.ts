import type { TurnEvent } from '@model-gateway/contracts';
import { completeRequest, responsesRequestSchema } from './request.ts';
import { ResponsesStream } from './stream.ts';

const TOOLS = [
  { type: 'function', name: 'look' },
  { type: 'custom', name: 'write' },
];
const call = (index: number, name = 'look'): TurnEvent => ({
  type: 'tool_call',
  index,
  id: `c${index}`,
  name,
});
const args = (index: number, text: string): TurnEvent => ({ type: 'tool_arguments', index, text });
const FINISH: TurnEvent = { type: 'finish', reason: 'tool_calls' };

interface Written {
  readonly type: string;
  readonly output_index?: number;
  readonly delta?: string;
  readonly item?: { readonly arguments?: string; readonly input?: string };
  readonly response?: { readonly output: readonly object[] };
}

function written(events: readonly TurnEvent[]): readonly Written[] {
  const body = responsesRequestSchema.parse({ model: 'm', input: 'Hi', tools: TOOLS });
  const stream = new ResponsesStream(
    completeRequest(body, {
      id: 'resp_7',
      createdAt: 5,
      isStored: false,
      previous: [],
      referenced: new Map(),
    }),
  );
  stream.begin({ model: 'm' });
  const text = events.map((event) => stream.write(event)).join('') + stream.end();
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Written);
}

/** The place of the item of each event, as they come. */
const places = (events: readonly Written[]) =>
  events.flatMap(({ output_index: at }) => (at === undefined ? [] : [at]));

test.each<{ why: string; events: readonly TurnEvent[] }>([
  {
    why: 'one after the other',
    events: [
      call(0),
      args(0, '{"a"'),
      args(0, ':1}'),
      call(1),
      args(1, '{"b":2}'),
      call(2),
      FINISH,
    ],
  },
  {
    why: 'mixed',
    events: [
      call(0),
      call(1),
      args(1, '{"b"'),
      args(0, '{"a":'),
      args(0, '1}'),
      args(1, ':2}'),
      call(2),
      FINISH,
    ],
  },
  {
    why: 'mixed, the first one last',
    events: [
      call(0),
      call(1),
      call(2),
      args(1, '{"b":2}'),
      args(0, '{"a"'),
      args(0, ':1}'),
      FINISH,
    ],
  },
])('the events of parallel calls come call by call, where they arrive $why', ({ events }) => {
  const told = written(events);
  expect(places(told)).toEqual(places(told).toSorted((one, other) => one - other));
  for (const [at, whole] of ['{"a":1}', '{"b":2}', '{}'].entries()) {
    const own = told.filter(({ output_index: place }) => place === at);
    expect(own[0]?.type).toBe('response.output_item.added');
    expect(own.at(-1)).toMatchObject({
      type: 'response.output_item.done',
      item: { call_id: `c${at}`, arguments: whole },
    });
    const deltas = own.filter(({ type }) => type.endsWith('arguments.delta'));
    expect(deltas.map(({ delta }) => delta).join('')).toBe(whole);
  }
  expect(told.at(-1)?.response?.output).toHaveLength(3);
});

test('the first call is told as it arrives, and the next one as soon as the first is whole', () => {
  const told = written([call(0), args(0, '{"a":'), args(0, '1}'), call(1), args(1, '{'), FINISH]);
  const types = told.map(({ type, output_index: at }) => `${at} ${type.split('.').at(-1)}`);
  expect(types.slice(0, 7)).toEqual([
    '0 added',
    '0 delta',
    '0 delta',
    '0 done',
    '0 done',
    '1 added',
    '1 delta',
  ]);
});

test('a custom call waits for its turn like others', () => {
  const told = written([
    call(0, 'write'),
    call(1),
    args(1, '{}'),
    args(0, '{"input":"x"}'),
    FINISH,
  ]);
  expect(places(told)).toEqual(places(told).toSorted((one, other) => one - other));
  expect(told.at(-1)?.response?.output).toMatchObject([{ input: 'x' }, { arguments: '{}' }]);
});
