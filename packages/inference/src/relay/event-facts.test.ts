import { createRelayedEvents } from './event-facts.ts';

const IMAGE = 'data: {"type":"image_generation.partial_image","b64_json":"AAAA"}\n\n';

test.each([
  ['data: {"error":{"message":"no GPU"}}', 'no GPU'],
  ['data: {"type":"error","message":"no GPU"}', 'no GPU'],
  ['event: error\ndata: {"message":"no GPU"}', 'no GPU'],
  ['event: error\ndata: Internal Server Error', 'the upstream reported an error'],
])('what comes before the error %j passes', (event, message) => {
  const events = createRelayedEvents();
  expect(events.pass(Buffer.from(`${IMAGE}${event}\n\n${IMAGE}`)).toString()).toBe(IMAGE);
  expect(events.error).toBe(message);
});

test('an event with another name passes', () => {
  const events = createRelayedEvents();
  const named = `event: error.none\n${IMAGE}`;
  expect(events.pass(Buffer.from(named)).toString()).toBe(named);
  expect(events.error).toBeUndefined();
});
