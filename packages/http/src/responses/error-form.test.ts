import { isOpenAiClient } from './error-form.ts';

/** What clients send, as far as it can tell them apart. */
test.each([
  [
    'openai for Python',
    {
      accept: 'application/json',
      'user-agent': 'OpenAI/Python 2.54.0',
      'x-stainless-lang': 'python',
      'x-stainless-retry-count': '0',
    },
  ],
  [
    'openai for Node.js',
    {
      accept: 'application/json',
      'user-agent': 'OpenAI/JS 6.1.0',
      'x-stainless-lang': 'js',
    },
  ],
  [
    'openai-go',
    {
      accept: 'application/json',
      'user-agent': 'OpenAI/Go 3.2.0',
      'x-stainless-lang': 'go',
    },
  ],
  ['openai-java', { 'user-agent': 'OpenAI/Java 4.0.0', 'x-stainless-lang': 'java' }],
  [
    'anthropic',
    {
      accept: 'application/json',
      'user-agent': 'Anthropic/Python 0.125.0',
      'anthropic-version': '2023-06-01',
    },
  ],
  ['go-openai', { accept: 'application/json', 'user-agent': 'Go-http-client/1.1' }],
  [
    'go-openai and eino, streams',
    { accept: 'text/event-stream', 'user-agent': 'Go-http-client/1.1' },
  ],
  ['langchaingo', { 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip' }],
  ['langchain4j', { accept: '*/*', 'user-agent': 'langchain4j-openai' }],
  ['Spring AI', { 'user-agent': 'spring-ai' }],
  ['Spring AI on the client of the JDK', { 'user-agent': 'Java-http-client/21.0.4' }],
  ['async-openai and rig', { accept: '*/*' }],
  ['litellm', { accept: '*/*', 'user-agent': 'litellm/1.79.0' }],
  ['the AI SDK', { accept: '*/*', 'user-agent': 'ai-sdk/openai/2.0.53 runtime/node.js/24' }],
  ['an organization', { accept: '*/*', 'user-agent': 'x', 'openai-organization': 'org-1' }],
  ['JSON alone', { accept: 'application/json', 'user-agent': 'curl/8.14.1' }],
])('%s is a client of the API', (_name, headers: Readonly<Record<string, string>>) => {
  expect(isOpenAiClient({ headers })).toBe(true);
});

test.each([
  ['curl', { accept: '*/*', 'user-agent': 'curl/8.14.1' }],
  ['fetch of Node.js', { accept: '*/*', 'accept-language': '*', 'user-agent': 'node' }],
  ['fetch of a browser', { accept: '*/*', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }],
  ['requests', { accept: '*/*', 'user-agent': 'python-requests/2.32.5' }],
  ['httpx', { accept: '*/*', 'user-agent': 'python-httpx/0.28.1' }],
  ['axios', { accept: 'application/json, text/plain, */*', 'user-agent': 'axios/1.13.0' }],
])('%s is not', (_name, headers) => {
  expect(isOpenAiClient({ headers })).toBe(false);
});
