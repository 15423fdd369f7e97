import { freePort, startProcess, type TestProcess } from '@model-gateway/testkit';
import { createEngineLibraries, type EngineLibraries } from './engine-library.ts';

interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly code?: string;
  readonly error?: string;
}

let libraries: EngineLibraries;

beforeAll(async () => {
  libraries = await createEngineLibraries('plain-engine.c');
});

afterAll(() => libraries.remove());

describe.each([
  { how: 'answers every script in the same way', definitions: [] },
  { how: 'fails with every script but the simplest', definitions: ['TEST_ERRORS'] },
])('an engine of six functions that $how', ({ definitions }) => {
  let server: TestProcess;

  beforeAll(async () => {
    const library = await libraries.build(...definitions);
    const port = await freePort();
    server = await startProcess({
      app: 'browser-tool',
      args: ['debug', '--port', String(port)],
      env: { BROWSER_BACKEND: 'servo', BROWSER_SERVO_ENGINE: library },
      port,
      readyPath: '/health',
    });
  });

  afterAll(() => server.stop());

  const ask = async (method: string, path: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${server.url}${path}`, { method, ...sent });
    const answer = (await response.json()) as Answer;
    return { ...answer, status: response.status };
  };
  const tool = {
    get: (path: string) => ask('GET', path),
    post: (path: string, body: object = {}) => ask('POST', path, body),
  };

  test('evaluates what the caller wrote, also before a page was opened', async () => {
    const { status, data } = await tool.post('/evaluate', { expression: '6*7' });
    expect({ status, data }).toEqual({
      status: 200,
      data: { result: 42, type: 'number', truncated: false },
    });
  });

  test('opens pages, and where it was sent is known', async () => {
    const { status, data } = await tool.post('/navigate', { url: 'http://example.com/a' });
    expect({ status, data }).toEqual({
      status: 200,
      data: {
        url: 'http://example.com/a',
        title: '',
        status: 200,
        load_state: 'complete',
        redirected: false,
        elapsed_ms: expect.any(Number),
        dialogs: [],
      },
    });
    expect((await tool.get('/info')).data).toMatchObject({
      url: 'http://example.com/a',
      title: '',
      protocol: 'ffi',
      browser_connected: true,
    });
    expect((await tool.post('/evaluate', { expression: '6*7' })).data).toMatchObject({
      result: 42,
    });
  });

  test('takes pictures', async () => {
    expect((await tool.post('/screenshot')).data).toMatchObject({
      mime_type: 'image/png',
      width: 1,
      height: 1,
    });
  });

  test('reports what it does not support', async () => {
    for (const answer of [
      await tool.post('/click', { target: 'button' }),
      await tool.get('/a11y'),
      await tool.get('/dom?selector=p'),
      await tool.post('/wait-for-selector', { selector: 'p' }),
      await tool.post('/evaluate', { expression: 'el => el.id', target: 'p' }),
      await tool.post('/back'),
    ]) {
      expect(answer).toMatchObject({
        status: 501,
        code: 'NOT_SUPPORTED_BY_ENGINE',
        error: expect.stringContaining('the servo engine does not support'),
      });
    }
  });
});
