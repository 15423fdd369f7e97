import { ServiceError } from '@model-gateway/contracts';
import { silentLog } from '@model-gateway/kernel';
import { toRpcError } from './rpc-error.ts';

test('while the store is not available a caller learns when to try again', () => {
  const error = toRpcError(new ServiceError('store_unavailable', 'no database'), silentLog);
  expect(error).toMatchObject({
    code: -32_603,
    message: 'no database',
    data: { request_id: expect.any(String), retry_after_secs: 5 },
  });
});

test('an error of our own is answered without its text', () => {
  const error = toRpcError(new Error('SELECT 1'), silentLog);
  expect(error).toMatchObject({ code: -32_603, message: 'internal error' });
  expect(error.data).toEqual({ request_id: expect.any(String) });
});
