import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import OpenAI, {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '20',
    SERVICE_UPSTREAM_ERRORS: 'pass',
  });
  upstream = await startChatUpstream({ models: ['m'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const client = (apiKey = gateway.key) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
const unknownKey = () => client(`service-${crypto.randomUUID()}`);
const messages = [{ role: 'user' as const, content: 'Hi' }];

test('the official client recognizes every refusal and failure', async () => {
  const embed = (model: string) => client().embeddings.create({ model, input: 'x' });
  const chat = (model: string) => client().chat.completions.create({ model, messages });
  await expect(unknownKey().models.list()).rejects.toBeInstanceOf(AuthenticationError);
  await expect(
    unknownKey().chat.completions.create({ model: 'm', messages }),
  ).rejects.toBeInstanceOf(AuthenticationError);
  await expect(embed('missing')).rejects.toBeInstanceOf(NotFoundError);
  await expect(chat('missing')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
    type: 'invalid_request_error',
    param: null,
    message: '404 No backend available for model: missing',
  });
  await expect(client().embeddings.create({ model: 'm', input: [] })).rejects.toBeInstanceOf(
    BadRequestError,
  );
  upstream.faults.next({ kind: 'status', status: 500 }, 2);
  await expect(embed('m')).rejects.toBeInstanceOf(InternalServerError);
  await expect(chat('m')).rejects.toMatchObject({ status: 502, code: 'bad_gateway' });
  upstream.faults.next({ kind: 'status', status: 400, body: { error: { code: 'too_long' } } });
  await expect(chat('m')).rejects.toMatchObject({ status: 400, code: 'too_long' });
  const many = Array.from({ length: 20 }, () => client().models.list());
  const refused = (await Promise.allSettled(many)).flatMap((one) =>
    one.status === 'rejected' ? [one.reason as unknown] : [],
  );
  expect(refused.length).toBeGreaterThan(0);
  for (const reason of refused) expect(reason).toBeInstanceOf(RateLimitError);
});
