import { startTool, type Answer, type ToolUnderTest } from '../tool.ts';

let tool: ToolUnderTest;

beforeAll(async () => {
  // Invalid arguments are reported before a browser is started.
  tool = await startTool({ env: { CHROMIUM_PATH: '/no/such/browser' } });
});

afterAll(() => tool.close());

/** Sends a body as it is. */
async function send(path: string, body: string): Promise<Answer> {
  const response = await fetch(`${tool.url}${path}`, { method: 'POST', body });
  const answer = (await response.json()) as Answer;
  return { ...answer, status: response.status };
}

const OPERATION = '{"type":"wait","ms":0}';

test.each([
  {
    why: 'no JSON',
    path: '/navigate',
    body: '{"url":',
    code: 'INVALID_JSON',
    text: /^The body is not JSON: /,
  },
  { why: 'a list', path: '/navigate', body: '[1]', text: /^The parameters of navigate must be an/ },
  {
    why: 'a text',
    path: '/click',
    body: '"a"',
    text: /^The parameters of click must be an object/,
  },
  { why: 'null', path: '/click', body: 'null', text: /^The parameters of click must be an object/ },
  {
    why: 'too large',
    path: '/navigate',
    body: JSON.stringify({ url: 'x'.repeat(1_100_000) }),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    text: /^The body is larger than 1048576 bytes\. /,
  },
  { why: 'nothing', path: '/navigate', body: '{}', text: /^url is required: a string\. / },
  { why: 'no target', path: '/click', body: '{}', text: /^target is required: a string\. / },
  {
    why: 'words for an element alone',
    path: '/click',
    body: '{"element":"the button"}',
    text: /^target is required/,
  },
  {
    why: 'null for a value',
    path: '/navigate',
    body: '{"url":null}',
    text: /^url is required: a string\. /,
  },
  {
    why: 'another type',
    path: '/navigate',
    body: '{"url":5}',
    text: /^url must be a string, not 5\. /,
  },
  {
    why: 'another type, by another name',
    path: '/click',
    body: '{"selector":5}',
    text: /^selector must be a string, not 5\. /,
  },
  {
    why: 'another type, by the name of the contract',
    path: '/type',
    body: '{"target":"a","text":"x","clear_first":"no"}',
    text: /^clear_first must be a boolean, not "no"\. /,
  },
  {
    why: 'a word that is none of those',
    path: '/navigate',
    body: '{"url":"about:blank","wait_until":"soon"}',
    text: /^wait_until must be one of commit, domcontentloaded, load, networkidle, not "soon"\. /,
  },
  {
    why: 'a word in a list',
    path: '/click',
    body: '{"target":"a","modifiers":["Shift","Foo"]}',
    text: /^modifiers\.1 must be one of Alt, Control, ControlOrMeta, Meta, Shift, not "Foo"\. /,
  },
  {
    why: 'a number that is too large',
    path: '/navigate',
    body: '{"url":"about:blank","timeout_ms":99999999}',
    text: /^timeout_ms must be at most 600000, not 99999999\. /,
  },
  {
    why: 'a broken number',
    path: '/click',
    body: '{"target":"a","timeout_ms":1.5}',
    text: /^timeout_ms must be an integer, not 1\.5\. /,
  },
  {
    why: 'a number that is too small',
    path: '/resize',
    body: '{"width":800,"height":600,"device_scale_factor":0}',
    text: /^device_scale_factor must be more than 0, not 0\. /,
  },
  {
    why: 'a long value, which is not repeated whole',
    path: '/screenshot',
    body: JSON.stringify({ format: 'g'.repeat(5_000) }),
    text: /^format must be one of png, jpeg, webp, not "g{99}…\. /,
  },
  {
    why: 'no operations',
    path: '/batch',
    body: '{}',
    text: /^operations is required: an array\. /,
  },
  {
    why: 'too many operations',
    path: '/batch',
    body: `{"operations":[${Array.from({ length: 101 }, () => OPERATION).join()}]}`,
    text: /^operations must be a list of at most 100, not /,
  },
  {
    why: 'an operation that is none',
    path: '/batch',
    body: '{"operations":[1]}',
    text: /^operations\.0 must be an object, not 1\. /,
  },
])(
  'what is refused on $path: $why',
  async ({ path, body, text, status = 400, code = 'INVALID_ARGUMENT' }) => {
    const answer = await send(path, body);
    expect(answer).toMatchObject({ status, ok: false, code, hint: expect.any(String) });
    expect(answer.error).toMatch(text);
  },
);

test('a batch of a hundred operations is none too many', async () => {
  const body = `{"operations":[${Array.from({ length: 100 }, () => OPERATION).join()}]}`;
  expect((await send('/batch', body)).data).toMatchObject({ completed: 100, failed: 0 });
});

test.each([
  { query: '/dom?limit=many', text: /^limit must be a number, not "many"\. / },
  { query: '/dom?selector=a&selector=b', text: /^selector must be a string, not \["a","b"\]\. / },
  { query: '/dom?selector=a&all=maybe', text: /^all must be a boolean, not "maybe"\. / },
  { query: '/a11y?format=yaml', text: /^format must be one of tree, text, not "yaml"\. / },
  { query: '/a11y?depth=0', text: /^depth must be at least 1, not "0"\. / },
  { query: '/a11y?cursor=5', text: /^cursor must be a cursor from an earlier snapshot, / },
  {
    query: '/console?level=error,loud',
    text: /^level must be one of error, warning, info, debug, not "error,loud"\. /,
  },
  { query: '/console?limit=1001', text: /^limit must be at most 1000, not "1001"\. / },
  { query: '/network?status=abc', text: /^status must be statuses such as 404 or 4xx, / },
  { query: '/network/%E0%A4%A', text: /^The path is not correctly encoded\. / },
])('what is refused: $query', async ({ query, text }) => {
  const answer = await tool.get(query);
  expect(answer).toMatchObject({ status: 400, ok: false, code: 'INVALID_ARGUMENT' });
  expect(answer.error).toMatch(text);
});

test('query values that are empty count as left out', async () => {
  expect(await tool.get('/console?level=&since=&limit=&source=&all=')).toMatchObject({
    status: 200,
    data: { entries: [] },
  });
});

test('names that every object has are names like others', async () => {
  expect((await tool.get('/viewport?constructor=1&toString=2')).code).toBe('BROWSER_NOT_FOUND');
  const answer = await send('/click', '{"__proto__":{"target":"a"},"constructor":1}');
  expect(answer.error).toMatch(/^target is required/);
});
