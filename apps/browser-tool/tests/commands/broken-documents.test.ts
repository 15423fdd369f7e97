import type { ServerResponse } from 'node:http';
import { callMcp } from '../interfaces/mcp-call.ts';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;
let unfinished: ServerResponse[] = [];

const LENGTH_PROMISED = 100_000;

beforeAll(async () => {
  site = await startSite({
    '/broken': (_request, response) => {
      const type = { 'content-type': 'text/html', 'content-length': LENGTH_PROMISED };
      response.writeHead(200, type);
      response.write('<title>Broken</title><button>First</button><img src="/first">');
      unfinished.push(response);
    },
    // The browser has read the first part by now.
    '/first': (_request, response) => {
      response.end();
      for (const each of unfinished) each.destroy();
    },
    '/stopped': page(
      'Stopped',
      '<button>First</button><script>window.stop()</script><button>Second</button>',
    ),
    '/markup': (_request, response) => {
      response.setHeader('content-type', 'application/xhtml+xml');
      response.end(
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>First</p><p>Second</body></html>',
      );
    },
    '/moves': page('Moves', '<p>Old</p><script>location.href = "/late"</script><p>Rest</p>'),
    '/late': (_request, response) => {
      response.setHeader('content-type', 'text/html');
      setTimeout(() => response.end('<title>Late</title>'), 200);
    },
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

beforeEach(() => {
  unfinished = [];
});

const snapshot = async (): Promise<string> =>
  String((await tool.get('/a11y?format=text')).data.text);

test('a document whose connection breaks off is shown as far as it came, and the answer says so', async () => {
  const { data } = await tool.open(`${site.url}/broken`);
  const error = 'net::ERR_CONTENT_LENGTH_MISMATCH';
  expect(data).toMatchObject({ title: 'Broken', load_state: 'interactive', load_error: error });
  expect(await snapshot()).toMatch(/^- button "First" \[ref=e\d+\]$/);
  unfinished = [];
  const { said } = await callMcp(tool, 'browser_navigate', { url: `${site.url}/broken` });
  expect(said).toContain(`/broken (incomplete: its loading broke off with ${error})\n`);
});

test('a page that stops its own loading is shown as far as it came', async () => {
  const { data } = await tool.open(`${site.url}/stopped`);
  expect(data).toMatchObject({ title: 'Stopped', load_state: 'interactive' });
  expect(await snapshot()).toMatch(/^- button "First" \[ref=e\d+\]$/);
});

test('a document that is not well-formed shows the error of the browser and what is before it', async () => {
  await tool.open(`${site.url}/markup`);
  const text = await snapshot();
  expect(text).toContain('Opening and ending tag mismatch');
  expect(text).toContain('- paragraph: First');
});

test('a page that leads to another one while it loads is not the end', async () => {
  const { data } = await tool.open(`${site.url}/moves`);
  expect(data).toMatchObject({ title: 'Late', load_state: 'complete' });
  expect(data).not.toHaveProperty('load_error');
});
