import { createCallRepair, isWholeCall, wholeCall } from './tool-calls.ts';

const chunk = (toolCalls: unknown, index = 0) => ({
  id: 'x',
  choices: [{ index, delta: { tool_calls: toolCalls }, finish_reason: null }],
});
const named = (name: string, more: object = {}) => ({
  id: `id_${name}`,
  index: 0,
  type: 'function',
  function: { name, arguments: '' },
  ...more,
});
const added = (text: unknown, more: object = {}) => ({
  index: 0,
  function: { arguments: text },
  ...more,
});

/** The calls of the chunks after the repair. */
function repair(...given: readonly unknown[]): readonly unknown[] {
  const repaired = createCallRepair();
  return given.flatMap((calls) => {
    const { choices } = repaired(chunk(calls)) as ReturnType<typeof chunk>;
    return choices[0]?.delta.tool_calls;
  });
}

test('chunks that have everything stay as they are', () => {
  const repaired = createCallRepair();
  for (const given of [
    chunk([named('a'), named('b', { index: 1 })]),
    chunk([added('{', { id: null }), added('{}', { index: 1 })]),
    chunk([{ index: 2, custom: { name: 'a', input: '' } }]),
    { choices: [{ index: 0, delta: { content: 'Hi' } }] },
    { choices: [] },
    {},
  ])
    expect(repaired(given)).toBe(given);
});

test('calls that share an index, or have none, get one of their own', () => {
  expect(repair([named('a')], [added('1')], [named('b')], [added('2')])).toMatchObject([
    { index: 0, id: 'id_a' },
    { index: 0, function: { arguments: '1' } },
    { index: 1, id: 'id_b', function: { name: 'b' } },
    { index: 1, id: 'id_b', function: { arguments: '2' } },
  ]);
  const { index: _index, ...bare } = named('a');
  expect(repair([bare, { ...bare, id: 'other' }])).toMatchObject([{ index: 0 }, { index: 1 }]);
});

test('a call without an id gets one, and keeps it', () => {
  const [first, second] = repair([named('a', { id: '' })], [added('{}')]);
  expect(first).toMatchObject({ id: expect.stringMatching(/^call_.{16}$/) as string });
  expect(second).toEqual(added('{}'));
});

test('arguments become text, and one call in place of a list a list', () => {
  expect(repair([named('a', { function: { name: 'a', arguments: { b: 1 } } })])).toMatchObject([
    { function: { name: 'a', arguments: '{"b":1}' } },
  ]);
  expect(repair(named('a'), named('a', { id: '', function: { name: 'a', arguments: '{}' } })))
    // Clients that join the pieces of a name would join it twice.
    .toEqual([named('a'), { ...named('a'), function: { arguments: '{}' } }]);
});

test('the calls of each choice are counted apart', () => {
  const repaired = createCallRepair();
  for (const index of [0, 1]) {
    const given = chunk([named('a')], index);
    expect(repaired(given)).toBe(given);
  }
});

test.each([
  { call: named('a'), isWhole: true },
  { call: { id: 'c', type: 'custom', custom: { name: 'a', input: '' } }, isWhole: true },
  { call: named('a', { id: '' }), isWhole: false },
  { call: named('a', { function: { name: 'a', arguments: {} } }), isWhole: false },
  { call: named('a', { function: { name: 'a' } }), isWhole: false },
])('a call of a whole message that has everything: $call', ({ call, isWhole }) => {
  expect(isWholeCall(call)).toBe(isWhole);
  expect(isWholeCall(wholeCall(call))).toBe(true);
});
