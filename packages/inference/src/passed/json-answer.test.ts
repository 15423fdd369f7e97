import { readJsonAnswer } from './json-answer.ts';
import { PASSED_OPERATIONS } from './operations.ts';

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
      operation: PASSED_OPERATIONS.rerank,
      fields: {},
      model: 'm',
      signal: { onFirstByte },
      mustBeJson: true,
    },
  );
  expect(String(await reader.next())).toBe('{"id":"a"}');
  expect(told).toBe(1);
});
