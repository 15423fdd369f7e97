import { createSecretWatch, watchedFetch } from './secret-watch.ts';

const KEY = 'service-0123456789abcdef';

interface Exchange {
  readonly status?: number;
  readonly request?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly response: object;
  readonly setCookie?: string;
}

/** What is found after these exchanges, each with the body of its response. */
async function found(...exchanges: readonly Exchange[]): Promise<readonly string[]> {
  const watch = createSecretWatch();
  for (const { status = 200, request, headers = {}, response, setCookie } of exchanges) {
    const fake = async (): Promise<Response> => {
      const answer = Response.json(response, { status });
      Object.defineProperty(answer, 'url', { value: 'http://127.0.0.1/v1/keys?x=1' });
      if (setCookie !== undefined) answer.headers.set('set-cookie', setCookie);
      return answer;
    };
    const options = {
      headers,
      ...(request === undefined ? {} : { body: JSON.stringify(request) }),
    };
    await (await watchedFetch(fake, watch)('http://127.0.0.1/', options)).text();
  }
  return watch.findings();
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test('a secret of a response that a later error quotes is found, and not told', async () => {
  const findings = await found(
    { response: { result: { key: KEY } } },
    { status: 400, response: { error: { message: `no such key: ${KEY}!` } } },
  );
  expect(findings).toEqual(['key in 400 of /v1/keys']);
  expect(findings.join()).not.toContain(KEY);
});

test.each([
  { kind: 'password', exchange: { request: { params: { password: KEY } }, response: {} } },
  { kind: 'current', exchange: { request: { params: { current: KEY } }, response: {} } },
  { kind: 'next', exchange: { request: { params: { next: KEY } }, response: {} } },
  { kind: 'api_keys', exchange: { request: { api_keys: ['ollama', KEY] }, response: {} } },
  { kind: 'bearer', exchange: { ...bearer(KEY), response: {} } },
  { kind: 'x-api-key', exchange: { headers: { 'X-Api-Key': KEY }, response: {} } },
  { kind: 'api-key', exchange: { headers: { 'api-key': KEY }, response: {} } },
  { kind: 'cookie', exchange: { headers: { cookie: `a=1; b=${KEY}` }, response: {} } },
  { kind: 'cookie', exchange: { setCookie: `b=${KEY}; HttpOnly; Path=/`, response: {} } },
])('so is a $kind of an exchange', async ({ kind, exchange }) => {
  expect(await found(exchange, { response: { error: { data: [KEY] } } })).toEqual([
    `${kind} in 200 of /v1/keys`,
  ]);
});

test('a secret in a log is found, also before it is known', () => {
  const watch = createSecretWatch();
  watch.text('the output of rpc', `{"message":"${KEY}"}`);
  watch.secret('jwt secret', KEY);
  expect(watch.findings()).toEqual(['jwt secret in the output of rpc']);
});

test('neither answers, nor refused secrets, nor dummies are findings', async () => {
  expect(
    await found(
      { response: { key: KEY } },
      { ...bearer(KEY), response: { key: KEY } },
      { ...bearer('service-of-somebody-else'), status: 401, response: { error: 'unauthorized' } },
      { status: 401, response: { error: 'service-of-somebody-else' } },
      { request: { api_key: 'ollama' }, response: {} },
      { status: 400, response: { error: 'ollama' } },
    ),
  ).toEqual([]);
});
