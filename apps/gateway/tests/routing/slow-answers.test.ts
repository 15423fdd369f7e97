import type { TestProcess } from '@model-gateway/testkit';
import { registerBackend } from '../gateway.ts';
import { createGatewayProcesses, stateOf, type GatewayProcesses } from '../gateway-processes.ts';
import { KINDS } from '../matrix/kinds.ts';
import type { WireServer } from '../matrix/upstreams/wire-server.ts';

// An engine speaks over a WebSocket, and a node is not registered by a call.
const { engine: _engine, agent: _agent, ...HTTP_KINDS } = KINDS;
type HttpKind = keyof typeof HTTP_KINDS;
const IDLE_MS = 300;
const SAID = { text: 'Hello', finish: 'stop', usage: { prompt: 3, completion: 1 } } as const;

let processes: GatewayProcesses;
let gateway: TestProcess;
const upstreams: WireServer[] = [];

beforeAll(async () => {
  processes = await createGatewayProcesses({
    SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS),
    SERVICE_BREAKER_FAILURES: '3',
  });
  gateway = await processes.start();
});
afterAll(async () => {
  await processes.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

test.each(Object.keys(HTTP_KINDS) as HttpKind[])(
  'a whole answer of the kind %s may take longer than the idle time of a stream; four at once open no circuit',
  async (kind) => {
    const api = HTTP_KINDS[kind];
    const upstream = await api.start();
    upstreams.push(upstream);
    upstream.answer(SAID, { stream: false });
    const registered = await registerBackend(gateway, {
      ...api.registration,
      name: kind,
      url: upstream.url,
    });
    expect(registered.status).toBe(200);
    upstream.answerAfter(IDLE_MS * 5);
    const responses = await Promise.all(
      Array.from({ length: 4 }, () => processes.chat(gateway, 'm', { provider: kind })),
    );
    const texts = await Promise.all(responses.map((response) => response.text()));
    for (const text of texts) expect(text).toContain('"content":"Hello"');
    expect(await stateOf(gateway, kind)).toBe('Healthy, closed');
  },
);
