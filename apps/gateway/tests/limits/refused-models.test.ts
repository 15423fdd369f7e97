import type { KeySettingChanges } from '@model-gateway/accounts';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { loggedRequest } from '../logged-requests.ts';

const messages = [{ role: 'user', content: 'Hi' }];

/** Requests for a model, each with what is wrong with it. */
const SURFACES = [
  { path: 'chat/completions', body: { messages }, wrong: { messages: 1 } },
  { path: 'messages', body: { messages, max_tokens: 5 }, wrong: { max_tokens: 'many' } },
  { path: 'responses', body: { input: 'Hi' }, wrong: { input: 7 } },
  { path: 'completions', body: { prompt: 'Hi' }, wrong: { max_tokens: -5 } },
  { path: 'embeddings', body: { input: 'Hi' }, wrong: { input: null } },
];

const REFUSALS: readonly { readonly status: number; readonly settings: KeySettingChanges }[] = [
  { status: 429, settings: { rpm: 1 } },
  { status: 429, settings: { tpm: 1 } },
  { status: 402, settings: { budgetUsd: 0, budgetPeriod: 'month' } },
  { status: 403, settings: { models: ['others-*'] } },
  { status: 400, settings: {} },
];

const CASES = REFUSALS.flatMap(({ status, settings }) =>
  SURFACES.map((surface) => ({ ...surface, status, settings })),
);

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startChatUpstream({ models: ['m'] });
  const capabilities = ['chat', 'embeddings', 'completions'];
  const backend = { type: 'external', name: 'up', url: upstream.url, capabilities };
  await registerBackend(gateway, backend);
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

test.each(CASES)(
  '$path refused with $status for $settings is logged with its model',
  async ({ path, body, wrong, status, settings }) => {
    const { userId, test } = gateway;
    const { secret, key } = await keysOf(test).create({ userId, name: 'k', settings });
    const ask = (more: object = {}): Promise<Response> =>
      fetch(`${gateway.url}/v1/${path}`, {
        method: 'POST',
        headers: { 'x-api-key': secret },
        body: JSON.stringify({ model: 'm', ...body, ...more }),
      });
    // The first request uses up a limit of one.
    if (settings.rpm === 1 || settings.tpm === 1) await (await ask()).text();
    const refused = await ask(status === 400 ? wrong : {});
    expect(refused.status).toBe(status);
    const { requestLog } = test.context.database;
    const logged = await loggedRequest(test.context, refused);
    expect(logged).toMatchObject({ status, model: 'm', keyId: key.id, upstream: null });
    const filter = { keyId: key.id, model: 'm', status };
    const listed = await requestLog.list(filter, { limit: 9 });
    expect(listed.requests.map(({ id }) => id)).toContain(logged.id);
  },
);
