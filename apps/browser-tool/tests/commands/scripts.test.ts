import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({ '/shop': page('Shop', '<h1>Orders</h1>') });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

describe('scripts', () => {
  beforeAll(() => tool.open(`${site.url}/shop`));

  test.each([
    { expression: 'document.title', result: 'Shop', type: 'string' },
    { expression: '1 + 1', result: 2, type: 'number' },
    { expression: 'null', result: null, type: 'null' },
    { expression: 'undefined', result: null, type: 'undefined' },
    { expression: 'NaN', result: 'NaN', type: 'number' },
    { expression: '10n', result: '10n', type: 'bigint' },
    { expression: '({ a: [1, { b: true }] })', result: { a: [1, { b: true }] }, type: 'object' },
    { expression: '[1, undefined, () => 1]', result: [1, null, '[Function ]'], type: 'array' },
    { expression: 'new Map([["a", new Set([1])]])', result: { a: [1] }, type: 'object' },
    { expression: 'document.querySelector("h1")', result: '<h1>', type: 'object' },
    { expression: 'new Date(0)', result: '1970-01-01T00:00:00.000Z', type: 'object' },
    { expression: 'Promise.resolve(5)', result: 5, type: 'number' },
    { expression: 'await Promise.resolve(6)', result: 6, type: 'number' },
    { expression: 'const twice = 7; twice', result: 7, type: 'number' },
    { expression: 'const twice = 8; twice', result: 8, type: 'number' },
    { expression: 'return 9', result: 9, type: 'number' },
    { expression: '() => 10', result: 10, type: 'number' },
    { expression: '() => 10; ', result: 10, type: 'number' },
    { expression: '/* ten */ (() => 10)', result: 10, type: 'number' },
    { expression: '() => 10 // ten', result: 10, type: 'number' },
    { expression: 'Symbol("s")', result: 'Symbol(s)', type: 'symbol' },
    { expression: 'async () => { return 11 }', result: 11, type: 'number' },
    { expression: '(() => 12)()', result: 12, type: 'number' },
    { expression: 'function f() { return 13 }\nf()', result: 13, type: 'number' },
    { expression: 'function () { return 14 } // }', result: 14, type: 'number' },
    { expression: `() => { ${' '.repeat(500_000)} return 15 }`, result: 15, type: 'number' },
    { function: 'function add(a, b) { return a + b }', args: [1, 2], result: 3, type: 'number' },
    {
      function: '(element, suffix) => element.textContent + suffix',
      target: 'h1',
      args: ['!'],
      result: 'Orders!',
      type: 'string',
    },
    { expression: 'element.tagName', target: 'h1', result: 'H1', type: 'string' },
  ])('%j', async ({ result, type, ...body }) => {
    expect(await tool.post('/evaluate', body)).toMatchObject({
      status: 200,
      data: { result, type, truncated: false },
    });
  });

  test('values are what they are on a page that changes how arrays become JSON', async () => {
    const change = 'Array.prototype.toJSON = () => "changed"; 0';
    await tool.post('/evaluate', { expression: change });
    const { data } = await tool.post('/evaluate', { expression: '[1, { a: [2] }]' });
    await tool.post('/evaluate', { expression: 'delete Array.prototype.toJSON; 0' });
    expect(data.result).toEqual([1, { a: [2] }]);
  });

  test('a function that a script assigns or returns is not called', async () => {
    const run = async (body: object): Promise<unknown> => (await tool.post('/evaluate', body)).data;
    const handler = '() => { document.title = "called" }';
    expect(await run({ expression: `window.onresize = ${handler}` })).toMatchObject({
      result: handler,
      type: 'function',
    });
    await run({ expression: `element.onclick = ${handler}`, target: 'h1' });
    await run({ expression: `window.handler = (element) => (${handler})()`, args: [1] });
    expect(await run({ expression: `const later = ${handler}; later` })).toMatchObject({
      type: 'function',
    });
    expect(await run({ expression: '(class A {})' })).toMatchObject({ type: 'function' });
    expect(await run({ expression: 'document.title' })).toMatchObject({ result: 'Shop' });
  });

  test('a function gets its arguments on a page that changes what functions are as texts', async () => {
    const change = 'Function.prototype.toString = String.prototype.startsWith = () => ""; 0';
    await tool.post('/evaluate', { expression: change });
    const { data } = await tool.post('/evaluate', { function: '(a, b) => a + b', args: [1, 2] });
    await tool.open(`${site.url}/shop`);
    expect(data.result).toBe(3);
  });

  test('circular values are cut and marked', async () => {
    const { data } = await tool.post('/evaluate', {
      expression: 'const o = { a: 1 }; o.self = o; o',
    });
    expect(data).toEqual({ result: { a: 1, self: '[Circular]' }, type: 'object', truncated: true });
  });

  test.each([
    { body: { expression: 'nope.x' }, name: 'ReferenceError', message: 'nope is not defined' },
    {
      body: { expression: '\n  throw new TypeError("bad\\nthing")' },
      name: 'TypeError',
      message: 'bad',
    },
    { body: { expression: '(() => {' }, name: 'SyntaxError', message: expect.any(String) },
    { body: { expression: 'throw "text"' }, name: 'string', message: 'text' },
    { body: { expression: 'throw undefined' }, name: 'undefined', message: 'undefined' },
    {
      body: { expression: 'Promise.reject(new RangeError("late"))' },
      name: 'RangeError',
      message: 'late',
    },
  ])('$body fails with its reason', async ({ body, name, message }) => {
    const answer = await tool.post('/evaluate', body);
    expect(answer).toMatchObject({
      status: 422,
      code: 'EVALUATION_FAILED',
      details: {
        name,
        message,
        stack: expect.any(String),
        line: expect.any(Number),
        column: expect.any(Number),
      },
    });
    expect(answer.error).not.toContain('\n');
  });

  test.each([
    { expression: 'nope.x', line: 1, column: 1 },
    { expression: '\n  throw new TypeError("bad")', line: 2, column: 9 },
    { expression: 'const one = 1;\n\n one.two.three', line: 3, column: 10 },
    { expression: 'await Promise.reject(new Error("late"))', line: 1, column: 22 },
    { expression: 'Promise.reject(new RangeError("late"))', line: 1, column: 16 },
    { expression: 'throw "text"', line: 1, column: 1 },
    { expression: '1;\n foo(', line: 2, column: 6 },
    { expression: '() => {\n  nope.x\n}', line: 2, column: 3 },
  ])('$expression failed in line $line, column $column', async ({ expression, line, column }) => {
    const answer = await tool.post('/evaluate', { expression });
    expect(answer).toMatchObject({ code: 'EVALUATION_FAILED', details: { line, column } });
  });

  test('a long exception is truncated', async () => {
    const answer = await tool.post('/evaluate', {
      expression: 'throw new Error("x".repeat(1_000_000))',
    });
    expect(answer.error).toMatch(/^The script threw Error: x+… Correct the script/);
    expect(JSON.stringify(answer).length).toBeLessThan(30_000);
  });

  test('one that never ends is ended, and the page answers again', async () => {
    const answer = await tool.post('/evaluate', { expression: 'for (;;) {}', timeout_ms: 300 });
    expect(answer).toMatchObject({ status: 504, code: 'TIMEOUT' });
    expect((await tool.post('/evaluate', { expression: 'document.title' })).data).toEqual({
      result: 'Shop',
      type: 'string',
      truncated: false,
    });
  });

  test('one that opens dialogs without end is ended too, and the page answers again', async () => {
    const answer = await tool.post('/evaluate', {
      expression: 'for (;;) alert("again")',
      timeout_ms: 500,
    });
    expect(answer).toMatchObject({ status: 504, code: 'TIMEOUT' });
    const { data } = await tool.post('/evaluate', { expression: '1' });
    expect(data.result).toBe(1);
    await tool.open(`${site.url}/shop`);
  });

  test('of many dialogs the first hundred are reported', async () => {
    const { data } = await tool.post('/evaluate', {
      function: '() => { for (let i = 0; i < 150; i += 1) alert(`number ${i}`); return "done"; }',
      timeout_ms: 60_000,
    });
    expect(data.result).toBe('done');
    expect(data.dialogs).toHaveLength(100);
    expect(data.dialogs).toContainEqual(expect.objectContaining({ message: 'number 0' }));
  });

  test('a result that is too large is refused', async () => {
    const answer = await tool.post('/evaluate', { expression: '"x".repeat(2_000_000)' });
    expect(answer).toMatchObject({ status: 413, code: 'RESULT_TOO_LARGE' });
  });
});
