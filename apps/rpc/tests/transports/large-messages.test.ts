import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { waitUntil } from '@model-gateway/testkit';
import { openSocket, startRpc, type RpcServer } from '../rpc-server.ts';

const OWN_WAITING_MAX = 100;

let rpc: RpcServer;
let token = '';
beforeAll(async () => {
  // One large message at a time.
  rpc = await startRpc({ SERVICE_REQUEST_BODIES_BYTES_MAX: '1024' });
  ({ token } = await rpc.createAccount('admin@example.com'));
});
afterAll(() => rpc.test.close());
afterEach(() => waitUntil(async () => (await metric('service_request_body_bytes')) === 0));

const largeCall = (id: string): Buffer =>
  Buffer.from(
    JSON.stringify({ jsonrpc: '2.0', id, method: 'system.status', params: {} }).padEnd(512 * 1024),
  );

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${rpc.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}
const waiting = (): Promise<number> => metric('service_request_bodies_waiting');

/** A message of which all but the last byte has been sent. */
function beginCall(body: Buffer): ClientRequest {
  const asked = request(`${rpc.url}/api/rpc`, {
    method: 'POST',
    headers: { 'content-length': body.length },
  });
  asked.on('error', () => undefined);
  asked.write(body.subarray(0, -1));
  return asked;
}

async function answerOf(asked: ClientRequest): Promise<{ status: number; text: string }> {
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await readAll(response) };
}

test('a large message waits for the memory of another, small ones do not', async () => {
  const first = beginCall(largeCall('first'));
  await waitUntil(async () => (await metric('service_request_body_bytes')) > 0);
  const second = beginCall(largeCall('second'));
  await waitUntil(async () => (await waiting()) === 1);
  const socket = await openSocket(rpc.url, token);
  socket.send(String(largeCall('third')));
  await waitUntil(async () => (await waiting()) === 2);
  expect(await rpc.call('system.status')).toHaveProperty('result');
  const other = await openSocket(rpc.url, token);
  expect(await other.call('system.status')).toHaveProperty('result');
  other.socket.close();
  const answers = [answerOf(first), answerOf(second)];
  for (const asked of [first, second]) asked.end(' ');
  for (const answer of answers) expect(await answer).toMatchObject({ status: 200 });
  expect(JSON.parse(await socket.next())).toMatchObject({ id: 'third', result: {} });
  expect(await socket.call('system.status')).toHaveProperty('result');
  socket.socket.close();
});

test('messages beyond those that may wait are refused', async () => {
  const body = largeCall('x');
  const begun = [beginCall(body)];
  await waitUntil(async () => (await metric('service_request_body_bytes')) > 0);
  for (let count = 0; count < OWN_WAITING_MAX; count += 1) begun.push(beginCall(body));
  await waitUntil(async () => (await waiting()) === OWN_WAITING_MAX);
  const refused = beginCall(body);
  refused.end(' ');
  const { status, text } = await answerOf(refused);
  expect({ status, error: (JSON.parse(text) as { error: unknown }).error }).toEqual({
    status: 503,
    error: expect.objectContaining({ code: -32_000 }),
  });
  const socket = await openSocket(rpc.url);
  socket.send(String(body));
  expect(JSON.parse(await socket.next())).toMatchObject({ id: null, error: { code: -32_000 } });
  expect(await socket.call('system.status')).toHaveProperty('result');
  socket.socket.close();
  for (const asked of begun) asked.destroy();
});
