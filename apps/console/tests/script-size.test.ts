import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// What a browser loads of the built console, compressed: the pages must open at once on a slow connection.

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const ASSETS = join(DIST, 'assets');
const FIRST_LOAD_MAX = 220_000;
/** The charts belong to what is seen first, although the numbers do not wait for them. */
const WITH_CHARTS_MAX = 255_000;
const PAGE_MAX = 90_000;

const scripts = readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
const entry = matches(readFileSync(join(DIST, 'index.html'), 'utf8'), /assets\/([\w.-]+\.js)"/g);

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []);
}

/** The scripts with everything that they import at once. */
function closure(names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const left = [...names];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const code = readFileSync(join(ASSETS, name), 'utf8');
    left.push(...matches(code, /(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g));
  }
  return found;
}

function chunk(name: string): string {
  const [file, ...others] = scripts.filter((one) => one.startsWith(`${name}-`));
  if (file === undefined || others.length > 0) throw new Error(`one script of ${name} expected`);
  return file;
}

const bytes = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + statSync(join(ASSETS, `${name}.gz`)).size, 0);

const pages = scripts.filter((name) => name.includes('-page-'));

test.each([
  ['sign-in', ['sign-in-page'], FIRST_LOAD_MAX],
  ['overview', ['shell', 'overview-page', 'canvas'], WITH_CHARTS_MAX],
])('the first load of %s is small', (_page, parts, max) => {
  const loaded = closure([...entry, chunk('en'), ...parts.map((part) => chunk(part))]);
  expect(entry.length).toBeGreaterThan(1);
  expect(bytes(loaded)).toBeLessThanOrEqual(max);
});

test('every further page adds little', () => {
  const frame = closure([...entry, chunk('shell')]);
  expect(pages.length).toBeGreaterThan(15);
  const large = pages
    .map((page) => ({
      page,
      bytes: bytes([...closure([page])].filter((name) => !frame.has(name))),
    }))
    .filter((one) => one.bytes > PAGE_MAX);
  expect(large).toEqual([]);
});
