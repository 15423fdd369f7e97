import { readJsonAnswer } from './json-answer.ts';
import { RELAYED_OPERATIONS } from './operations.ts';

test('the first byte of an answer is reported once, before the rest', async () => {
  let told = 0;
  let sendRest = (): void => undefined;
  const rest = new Promise<void>((resolve) => (sendRest = resolve));
  async function* bytes() {
    yield Buffer.from('{"id":');
    await rest;
    yield Buffer.from('"a"}');
  }
  const onFirstByte = () => {
    told += 1;
    sendRest();
  };
  const reader = readJsonAnswer(
    { contentType: 'application/json', bytes: bytes(), cleanMessage: (message) => message },
    {
      operation: RELAYED_OPERATIONS.rerank,
      fields: {},
      model: 'm',
      onFirstByte,
      mustBeJson: true,
    },
  );
  expect(String(await reader.next())).toBe('{"id":"a"}');
  expect(told).toBe(1);
});

test.each([
  { named: 'data', count: 2 },
  { named: 'images', count: undefined },
])('images of a large answer are counted below `data`: $named', async ({ named, count }) => {
  const image = { b64_json: 'A'.repeat(600 * 1024) };
  const answer = Buffer.from(JSON.stringify({ [named]: [image, image] }));
  const reader = readJsonAnswer(
    { contentType: 'application/json', bytes: inPieces(answer), cleanMessage: (text) => text },
    {
      operation: RELAYED_OPERATIONS.images,
      fields: {},
      model: 'm',
      mustBeJson: true,
    },
  );
  for (let part = await reader.next(); part !== undefined; part = await reader.next());
  // Those of an answer that says nothing of them are estimated by the request.
  expect(reader.reported.images).toBe(count);
});

async function* inPieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}
