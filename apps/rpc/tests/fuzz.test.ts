import { rpcMethods } from '@model-gateway/contracts';
import { fullSize, type RpcAnswer } from '@model-gateway/testkit';
import * as fc from 'fast-check';
import { openSocket, startRpc, type RpcServer } from './rpc-server.ts';

const FRAMES = fullSize(20_000, { small: 2_000 });
const POSTS = fullSize(500, { small: 100 });
const IN_FLIGHT = 200;

let rpc: RpcServer;
let token = '';
beforeAll(async () => {
  rpc = await startRpc();
  ({ token } = await rpc.createAccount('fuzz@example.com'));
});
afterAll(() => rpc.test.close());

// Registering would hash thousands of passwords, and signing in would only lock the address.
const cheap = Object.keys(rpcMethods).filter((name) => !name.startsWith('auth.'));
const method = fc.oneof(
  fc.constantFrom(...cheap, 'rpc.discover', 'system.probe', '__proto__', ''),
  fc.string(),
);
const params = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(
    fc.constantFrom('group_id', 'name', 'email', 'limit', 'token', 'id', 'model'),
    fc.jsonValue(),
  ),
);
const request = fc.record(
  { jsonrpc: fc.oneof(fc.constant('2.0'), fc.jsonValue()), method, params, id: fc.jsonValue() },
  { requiredKeys: [] },
);
const whole = fc
  .oneof(request, fc.array(request, { maxLength: 5 }), fc.jsonValue())
  .map((value) => JSON.stringify(value));
/** A text with a part removed, doubled or replaced. */
const mutated = fc
  .tuple(whole, fc.nat(), fc.nat(8), fc.string({ maxLength: 4 }))
  .map(([text, at, length, filler]) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + filler + text.slice(from + length);
  });
const frame = fc.oneof(
  { weight: 5, arbitrary: whole },
  { weight: 4, arbitrary: mutated },
  { weight: 1, arbitrary: fc.string() },
);

function isEnvelope(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { jsonrpc, error } = value as Record<string, unknown>;
  const isError =
    typeof error === 'object' && error !== null && Number.isInteger(Reflect.get(error, 'code'));
  return jsonrpc === '2.0' && 'id' in value && 'result' in value !== isError;
}

/** The envelopes of a response; none when it is anything else. */
function envelopesOf(text: string): readonly RpcAnswer[] {
  const value: unknown = JSON.parse(text);
  const envelopes: readonly unknown[] = Array.isArray(value) ? value : [value];
  return envelopes.every(isEnvelope) ? (envelopes as readonly RpcAnswer[]) : [];
}

test('random frames each get a JSON-RPC envelope as response', async () => {
  const socket = await openSocket(rpc.url, token);
  const frames = fc.sample(frame, FRAMES);
  const codes = new Set<number | undefined>();
  for (let from = 0; from < frames.length; from += IN_FLIGHT) {
    const slice = frames.slice(from, from + IN_FLIGHT);
    for (const text of slice) socket.send(text);
    for (let count = 0; count < slice.length; count += 1) {
      const answer = await socket.next();
      const envelopes = envelopesOf(answer);
      if (envelopes.length === 0) throw new Error(`not an envelope: ${answer.slice(0, 500)}`);
      for (const { error } of envelopes) codes.add(error?.code);
    }
  }
  expect(socket.socket.readyState).toBe(socket.socket.OPEN);
  socket.socket.close();
  // The frames reached every stage, and none caused an internal error.
  expect([...codes]).toEqual(
    expect.arrayContaining([undefined, -32_700, -32_600, -32_601, -32_602]),
  );
  expect(codes).not.toContain(-32_603);
});

test('over HTTP too', async () => {
  for (const body of fc.sample(frame, POSTS)) {
    const response = await fetch(`${rpc.url}/api/rpc`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    expect(envelopesOf(await response.text())).not.toEqual([]);
  }
});
