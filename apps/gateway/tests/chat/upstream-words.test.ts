import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import Anthropic, { BadRequestError as MessagesBadRequest } from '@anthropic-ai/sdk';
import OpenAI, { BadRequestError, UnprocessableEntityError } from 'openai';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

// What servers say when they refuse a request reaches the official clients.

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startChatUpstream({ models: ['m'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const messages = [{ role: 'user' as const, content: 'Hi' }];

/** Of OpenAI, vLLM, llama.cpp and Gemini. */
const TOO_LONG = [
  {
    error: {
      message: "This model's maximum context length is 8 tokens.",
      code: 'context_length_exceeded',
    },
  },
  {
    object: 'error',
    message: "This model's maximum context length is 8 tokens. However, you requested 9 tokens.",
    type: 'BadRequestError',
    code: 400,
  },
  {
    error: {
      code: 400,
      message: 'request (9 tokens) exceeds the available context size (8 tokens)',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 9,
      n_ctx: 8,
    },
  },
  [
    {
      error: {
        code: 400,
        message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
];

test.each(TOO_LONG)(
  'clients of the Messages API know a prompt that is too long: %j',
  async (body) => {
    upstream.faults.next({ kind: 'status', status: 400, body }, 2);
    const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
    const request = { model: 'm', max_tokens: 9, messages };
    const asked = [
      client.messages.create(request),
      client.messages.create({ ...request, stream: true }),
    ];
    for (const error of await Promise.all(
      asked.map((one) => one.catch((reason: unknown) => reason)),
    )) {
      expect(error).toBeInstanceOf(MessagesBadRequest);
      expect(error).toMatchObject({
        error: {
          error: {
            type: 'invalid_request_error',
            message: expect.stringMatching(/^prompt is too long: (?!prompt)/) as string,
          },
        },
      });
    }
  },
);

test.each([
  {
    status: 422,
    body: { detail: [{ loc: ['body', 'seed'], msg: 'Input should be a valid integer' }] },
    reason: 'body.seed: Input should be a valid integer',
  },
  { status: 422, body: { detail: 'no such voice' }, reason: 'no such voice' },
  { status: 400, body: { errors: ['too many stops'] }, reason: 'too many stops' },
  { status: 400, body: { errors: [{ message: 'too many stops' }] }, reason: 'too many stops' },
  { status: 400, body: { message: 'bad request', type: 'x' }, reason: 'bad request' },
  { status: 400, body: 'unknown sampler\nat line 3', reason: 'unknown sampler' },
  { status: 400, body: '<html>no</html>', reason: 'Bad Request' },
])('the reason of $status $body is told', async ({ status, body, reason }) => {
  const client = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: gateway.key,
    maxRetries: 0,
  });
  upstream.faults.next({ kind: 'status', status, body }, 2);
  for (const stream of [false, true]) {
    const error = await client.chat.completions
      .create({ model: 'm', messages, stream })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(status === 400 ? BadRequestError : UnprocessableEntityError);
    expect(error).toMatchObject({ message: `${status} ${reason}` });
  }
});
