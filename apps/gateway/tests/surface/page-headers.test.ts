import { CONSOLE_ROUTES } from '../../src/console/console-routes.ts';
import { DOCS_ROUTES } from '../../src/docs/routes.ts';
import { startGateway, type GatewayUnderTest } from '../gateway.ts';
import { recordMounts } from './mounted-routes.ts';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
/** Paths that no route serves, or that none can read. */
const WRONG_PATHS = ['/nothing', '/v1/nothing', '/console/assets/none.css', '/%E0%A4%A', '/docs/x'];

let gateway: GatewayUnderTest;
let paths: readonly string[];
beforeAll(async () => {
  const mounts = recordMounts();
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  const mounted = mounts.read().map(({ path }) => path);
  mounts.restore();
  const all = new Set([...mounted, ...CONSOLE_ROUTES, ...DOCS_ROUTES]);
  paths = [...[...all].map((path) => path.replaceAll(/\{\w+\}/g, 'some')), ...WRONG_PATHS];
});
afterAll(() => gateway.test.close());

test('every page and every redirect has the security headers, whatever was asked for', async () => {
  const shown: string[] = [];
  const bare: string[] = [];
  for (const method of ['GET', 'POST']) {
    for (const path of paths) {
      const request = { method, headers: { accept: HTML }, redirect: 'manual' } as const;
      const { status, headers, body } = await fetch(`${gateway.url}${path}`, request);
      await body?.cancel();
      const isRedirect = status >= 300 && status < 400;
      if (!isRedirect && headers.get('content-type')?.startsWith('text/html') !== true) continue;
      const policy = headers.get('content-security-policy') ?? '';
      const isSafe =
        policy.startsWith("default-src 'none';") &&
        policy.includes("base-uri 'none'; form-action 'none'; frame-ancestors 'none'") &&
        headers.get('x-content-type-options') === 'nosniff' &&
        headers.get('referrer-policy') === 'no-referrer';
      shown.push(path);
      if (!isSafe) bare.push(`${method} ${path}`);
    }
  }
  expect(bare).toEqual([]);
  expect(shown).toEqual(
    expect.arrayContaining(['/', '/console', '/console/some', '/docs', '/docs/errors']),
  );
});
