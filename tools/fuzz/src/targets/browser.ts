import * as fc from 'fast-check';
import { hostileText } from '../grammar/json-text.ts';
import { onTheWire } from '../grammar/wire-text.ts';
import type { BrowserScene, Target } from '../target.ts';
import {
  checkCase,
  httpCases,
  oddHeaders,
  oddQuery,
  sendCase,
  withCredential,
  type HttpCase,
} from './http-case.ts';

/** Usual values of the fields of commands, which ignore those that they do not know. */
const FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  url: ['about:blank', 'data:text/html,<button>Go</button><input>', 'http://127.0.0.1:1/'],
  target: ['e1', 'button', 'text=Go', 'xpath=//button', 'css=['],
  selector: ['button', '*', ':is('],
  text: ['Hello', '\u0000'],
  key: ['Enter', 'Control+A', '+'],
  function: ['1', '() => ({a: 1n})', 'document.title', '(() => { throw {} })()', '}'],
  args: [[], [1]],
  width: [800, 1, 1e9],
  height: [600, 0],
  limit: [1, 1000],
  depth: [1, 1000],
  since: [0, -1],
  to: ['top'],
  delta_y: [100],
  full_page: [true, false],
  format: ['png', 'jpeg', 'webp', 'tree', 'text'],
  quality: [50],
  wait_until: ['load', 'domcontentloaded', 'none'],
  wait_for: ['button'],
  state: ['hidden', 'visible'],
  modifiers: [['Alt']],
  position: [{ x: 1, y: 1 }],
  include_snapshot: [true],
  max_bytes: [10],
  commands: [[], [{ command: 'dom' }], [{ command: 'evaluate', function: '1' }]],
  steps: [[], [{ command: 'dom' }]],
};
const body = fc
  .record(
    Object.fromEntries(
      Object.entries(FIELDS).map(([name, values]) => [name, fc.constantFrom(...values)]),
    ),
    { requiredKeys: [], noNullPrototype: true },
  )
  // Commands wait for pages; a case must not.
  .map((fields) => ({ ...fields, timeout_ms: 200 }));

const piece = fc.oneof(
  fc.constantFrom('', '1', '%00', '%E0', '..', '__proto__', '{}', '[]', 'true', '-1', '1e9'),
  fc.string().map((text) => encodeURIComponent(text)),
);
const query = oddQuery(['limit', 'since', 'type', 'a[b]', '__proto__', 'id'], piece);
const headers = withCredential(
  ['browser_token'],
  oddHeaders(
    ['host', 'origin', 'accept', 'content-type', 'authorization'],
    ['', '*', 'image/webp', 'http://127.0.0.1', 'Bearer ', 'null', 'evil.example'],
  ),
);

/** The HTTP API of the browser tool. */
export const browser: Target<HttpCase, BrowserScene> = {
  name: 'browser',
  about: 'the HTTP API of the browser tool',
  scene: 'browser',
  shortCases: 40,
  async cases(scene) {
    const routes = await routesOf(scene);
    return fc.oneof(
      ...routes.map((route) => {
        const [method = '', path = ''] = route.split(' ');
        return httpCases({
          method,
          path: fc.tuple(piece, query).map(([id, search]) => path.replace(/:\w+/, id) + search),
          headers,
          ...(method === 'POST' ? { body: onTheWire(hostileText(body)) } : {}),
        });
      }),
    );
  },
  async run(each, scene) {
    const firstPieceOnly = each.path.startsWith('/events');
    const answer = await sendCase(each, scene.url, scene.values, { firstPieceOnly });
    return checkCase(each, answer, scene.url, scene);
  },
};

/** The routes that the tool lists when it is asked for another. */
async function routesOf(scene: BrowserScene): Promise<readonly string[]> {
  const response = await fetch(`${scene.url}/no-such-route`, {
    headers: { authorization: `Bearer ${scene.values['browser_token']}` },
  });
  const { details } = (await response.json()) as { details: { routes: readonly string[] } };
  // It never answers by itself while nothing happens.
  return details.routes.filter((route) => !route.endsWith(' /events'));
}
