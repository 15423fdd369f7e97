import * as fc from 'fast-check';
import { hostileValue, mutated, textOf } from '../grammar/hostile.ts';
import { objectTree, rawTree, type JsonTree } from '../grammar/json-tree.ts';
import { rarely } from '../grammar/rarely.ts';
import { bytesOf, cutAt, cuts, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { afterHangUp, send } from '../run/send.ts';
import type { BrowserScene, Target } from '../target.ts';

interface BrowserRequest {
  readonly method: string;
  readonly path: string;
  readonly hasToken: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireText | null;
  readonly cuts: readonly number[];
  readonly hangsUp: boolean;
}

/** Usual values of the fields of commands, as JSON. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  url: ['"about:blank"', '"data:text/html,<button>Go</button><input>"', '"http://127.0.0.1:1/"'],
  target: ['"e1"', '"button"', '"text=Go"', '"xpath=//button"', '"css=["'],
  selector: ['"button"', '"*"', '":is("'],
  text: ['"Hello"', '"\\u0000"'],
  key: ['"Enter"', '"Control+A"', '"+"'],
  function: ['"1"', '"() => ({a: 1n})"', '"document.title"', '"(() => { throw {} })()"', '"}"'],
  args: ['[]', '[1]'],
  width: ['800', '1', '1e9'],
  height: ['600', '0'],
  limit: ['1', '1000'],
  depth: ['1', '1000'],
  since: ['0', '-1'],
  to: ['"top"'],
  delta_y: ['100'],
  full_page: ['true', 'false'],
  format: ['"png"', '"jpeg"', '"webp"', '"tree"', '"text"'],
  quality: ['50'],
  wait_until: ['"load"', '"domcontentloaded"', '"none"'],
  wait_for: ['"button"'],
  state: ['"hidden"', '"visible"'],
  modifiers: ['["Alt"]'],
  position: ['{"x":1,"y":1}'],
  include_snapshot: ['true'],
  max_bytes: ['10'],
  commands: ['[]', '[{"command":"dom"}]', '[{"command":"evaluate","function":"1"}]'],
  steps: ['[]', '[{"command":"dom"}]'],
};

const body: fc.Arbitrary<JsonTree> = fc
  .record(
    Object.fromEntries(
      Object.entries(FIELDS).map(([name, values]) => [
        name,
        fc.option(fc.constantFrom(...values.map(rawTree)), { nil: undefined, freq: 1 }),
      ]),
    ),
  )
  // Commands wait for pages; a case must not.
  .map((fields) => objectTree({ ...fields, timeout_ms: rawTree('200') }));

const piece = fc.oneof(
  fc.constantFrom('', '1', '%00', '%E0', '..', '__proto__', '{}', '[]', 'true', '-1', '1e9'),
  fc.string().map((text) => encodeURIComponent(text)),
);
const query = fc
  .array(fc.tuple(fc.constantFrom('limit', 'since', 'type', 'a[b]', '__proto__', 'id'), piece), {
    maxLength: 3,
  })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`));
const headers = fc.dictionary(
  fc.constantFrom('host', 'origin', 'accept', 'content-type', 'authorization'),
  fc.oneof(
    fc.constantFrom('', '*', 'image/webp', 'http://127.0.0.1', 'Bearer ', 'null', 'evil.example'),
    fc.string().map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
  ),
  { maxKeys: 2, noNullPrototype: true },
);

/** The HTTP API of the browser tool. */
export const browser: Target<BrowserRequest, BrowserScene> = {
  name: 'browser',
  about: 'the HTTP API of the browser tool',
  scene: 'browser',
  shortCases: 40,
  async cases(scene) {
    const routes = await routesOf(scene);
    return fc.oneof(...routes.map(requestsFor));
  },
  async run(each, scene) {
    const answer = await send(scene.url, {
      method: each.method,
      path: each.path,
      headers: {
        ...(each.hasToken ? { authorization: `Bearer ${scene.values['browser_token']}` } : {}),
        ...each.headers,
      },
      pieces: each.body === null ? [] : cutAt(bytesOf(each.body), each.cuts),
      hangsUp: each.hangsUp && each.body !== null,
      firstPieceOnly: each.path.startsWith('/events'),
    });
    if (each.hangsUp) return afterHangUp(scene.url);
    if (answer.outcome === 'broken off') return ['the connection broke'];
    return checkAnswer(answer, scene.secrets);
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

function requestsFor(route: string): fc.Arbitrary<BrowserRequest> {
  const [method = 'GET', path = '/'] = route.split(' ');
  const hasBody = method === 'POST';
  const wire = onTheWire(
    fc.oneof(
      { weight: 8, arbitrary: textOf(mutated(body)) },
      { weight: 1, arbitrary: hostileValue },
      { weight: 1, arbitrary: fc.string() },
    ),
  );
  return fc.record({
    method: fc.oneof(
      { weight: 20, arbitrary: fc.constant(method) },
      { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'OPTIONS') },
    ),
    path: fc.tuple(piece, query).map(([id, search]) => `${path.replace(/:\w+/, id)}${search}`),
    hasToken: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.boolean()),
    headers: fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, headers),
    body: hasBody ? wire : fc.constant(null),
    cuts,
    hangsUp: hasBody ? rarely() : fc.constant(false),
  });
}
