import { RpcCallError, RpcConnectionError } from '@model-gateway/client';
import { problemOf, remedyOfCall } from './problem.ts';

test('a change whose connection was lost is not said to be made again', () => {
  const { remedy } = problemOf(new RpcConnectionError('network', 'no connection'));
  expect(remedy).toBe('error.connection.remedy');
  expect(remedyOfCall(remedy)).toBe('error.connection.action');
});

test('what a refusal asks for is the same for both', () => {
  const { remedy } = problemOf(new RpcCallError(-32_007, 'not allowed'));
  expect(remedyOfCall(remedy)).toBe('error.forbidden.remedy');
});
