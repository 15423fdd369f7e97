import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ServiceError, type ErrorCode } from '@model-gateway/contracts';
import { silentLog } from '@model-gateway/kernel';
import { sendRestError } from './rest-errors.ts';

/** What is logged of an error, and the answer. */
function sent(code: ErrorCode, prepare: (response: ServerResponse) => void = () => undefined) {
  const lines: { readonly level: string; readonly fields: object }[] = [];
  const write = (name: string) => (fields: object) => void lines.push({ level: name, fields });
  const log = { ...silentLog, info: write('info'), error: write('error') };
  const request = new IncomingMessage(new Socket());
  request.url = '/v1/chat/completions';
  const response = new ServerResponse(request);
  prepare(response);
  sendRestError(new ServiceError(code, 'no'), request, response, log);
  return { lines, response };
}

test.each([
  { code: 'unsupported_operation', status: 500, level: 'info' },
  { code: 'all_backends_unhealthy', status: 500, level: 'error' },
  { code: 'invalid_request', status: 400, level: undefined },
] as const)('$code is logged as $level', ({ code, status, level }) => {
  const { lines, response } = sent(code);
  expect(response.statusCode).toBe(status);
  expect(lines.map((line) => line.level)).toEqual(level === undefined ? [] : [level]);
  // The stack is part of the error.
  expect(lines.some(({ fields }) => 'error' in fields)).toBe(level === 'error');
});

test('a client that left before its answer is no failure of the service', () => {
  const { lines } = sent('bad_gateway', (response) => response.destroy());
  expect(lines.map((line) => line.level)).toEqual(['info']);
  expect(lines.some(({ fields }) => 'error' in fields)).toBe(false);
});
