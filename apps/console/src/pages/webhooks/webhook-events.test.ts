import { eventsOf, isReceiver } from './webhook-events.ts';

test('a webhook of a group has only the events that belong to a group', () => {
  expect(eventsOf('a group')).toEqual([
    'budget.threshold',
    'key.expiring',
    'video.done',
    'video.failed',
  ]);
  expect(eventsOf(undefined)).toHaveLength(9);
});

test.each([
  ['https://hooks.example.com/x', true],
  ['http://127.0.0.1:9', true],
  ['ftp://hooks.example.com', false],
  ['https://user:password@hooks.example.com', false],
  ['hooks.example.com', false],
  ['', false],
])('%s is a receiver: %s', (url, isOne) => {
  expect(isReceiver(url)).toBe(isOne);
});
