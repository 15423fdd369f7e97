import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SignInEnd } from '@model-gateway/accounts';
import { createDeferred, createMetrics } from '@model-gateway/kernel';
import { createSseTransport } from './sse.ts';

let server: Server;
afterEach(() => server.close());

/** A server whose streams are opened when the test says so. */
async function serve(endOfLost: () => Promise<string | undefined> = async () => undefined) {
  const subscribed = createDeferred();
  const listening = createDeferred();
  let deliver = (_message: string): void => undefined;
  let announce = (_end: SignInEnd): void => undefined;
  const user = { id: 'u', email: 'u@example.com', name: '', isAdmin: false };
  const sse = createSseTransport({
    sessions: {
      ownerOf: async () => undefined,
      async listen(_sessionId, onMessage) {
        deliver = onMessage;
        listening.resolve();
        await subscribed.promise;
        return { close: async () => undefined };
      },
    },
    accounts: { authenticate: async () => ({ user, signIn: { userId: 'u', familyId: 'f' } }) },
    signInEnds: {
      hasEnded: () => false,
      onEnd(listener) {
        announce = listener;
        return () => undefined;
      },
    },
    clientOf: () => ({ clientIp: '192.0.2.1', isLocalClient: false }),
    places: { take: async () => () => undefined },
    metrics: createMetrics(),
    sessionAuth: false,
    endOfLost,
    keepaliveMs: 20,
  });
  server = createServer((request, response) => void sse.handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api/rpc/events?session=s&token=t`,
    listening: listening.promise,
    open: subscribed.resolve,
    deliver: (message: string) => deliver(message),
    announce: (end: SignInEnd) => announce(end),
    close: () => sse.close(),
  };
}

test.each<SignInEnd>([
  { kind: 'user-deactivated', userId: 'u' },
  { kind: 'sign-in-ended', familyId: 'f' },
])('a stream whose sign-in ends while it is opened does not stay open: $kind', async (end) => {
  const sse = await serve();
  const asking = fetch(sse.url);
  await sse.listening;
  sse.announce(end);
  sse.open();
  expect(await (await asking).text()).toBe(': connected\n\n');
  sse.close();
});

test('a stream whose process is not found twice in a row ends with what its listener has to know, once', async () => {
  const answers = ['lost', undefined, 'lost', 'lost'];
  let checks = 0;
  const sse = await serve(async () => answers[checks++]);
  sse.open();
  const response = await fetch(sse.url);
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    // Some intervals later.
    if (!/data: lost\n\n(: keepalive\n\n){3}/.test(text)) continue;
    sse.deliver('late');
    sse.close();
  }
  const events = text.split('\n\n').filter((event) => event !== ': keepalive');
  expect(events).toEqual([': connected', 'data: lost', '']);
  expect(checks).toBe(answers.length);
});
