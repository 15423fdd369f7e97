import { addToolCalls } from './tool-calls.ts';

test('the parts of calls are put together by their places', () => {
  const first = addToolCalls(
    [],
    [{ index: 0, function: { name: 'weather', arguments: '{"city"' } }],
  );
  const second = addToolCalls(first, [
    { index: 0, function: { arguments: ':"Rome"}' } },
    { index: 1, function: { name: 'time', arguments: '{}' } },
  ]);
  expect(second).toEqual([
    { name: 'weather', arguments: '{"city":"Rome"}' },
    { name: 'time', arguments: '{}' },
  ]);
});
