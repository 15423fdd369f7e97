import { randomBytes } from 'node:crypto';
import { OPERATIONS } from '../../src/operations/all.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { ADMIN_TOKEN, NO_ITEMS, startGateway, type GatewayUnderTest } from '../gateway.ts';

// Whatever a query says, it is answered or refused, and a page is never asked for by what is none.

const ANY_TEXT = /^/;
const WHOLE = /^(\d+|1e3)$/;

/** The params of each path that reads its query, and which of the texts below they may take. */
const QUERIES: Readonly<Record<string, Readonly<Record<string, RegExp | undefined>>>> = {
  'get /v1/responses/{id}/input_items': { after: undefined, limit: /^(1|7)$/, order: undefined },
  'get /v1/responses/{id}': { stream: ANY_TEXT },
  'get /api/admin/audit': { from: undefined, to: undefined, after: WHOLE },
  'get /api/admin/route': {
    model: ANY_TEXT,
    key: undefined,
    capability: undefined,
    provider: ANY_TEXT,
  },
};

/** Names that a client could try anywhere. */
const COMMON = [
  'after',
  'before',
  'after_id',
  'cursor',
  'from',
  'limit',
  'offset',
  'order',
  'page',
];

const VALUES = [
  '0',
  '1',
  '7',
  '-1',
  '1.5',
  '1e999',
  '1e3',
  '9007199254740993',
  'NaN',
  'Infinity',
  'garbage',
  '2026-02-30T00:00:00Z',
  '9999-99-99 99:99:99+00',
  '+275760-09-14T00:00:00Z',
  'a\u0000b',
  '\uFFFD',
  "';--",
  '../..',
  'x'.repeat(4_000),
];

let gateway: GatewayUnderTest;
let responseId = '';
beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  responseId = `resp_${randomBytes(16).toString('hex')}`;
  const stored = {
    id: responseId,
    previousId: null,
    input: '[{"type":"message","role":"user","id":"msg_1","content":"Hi"}]',
    response: JSON.stringify({ id: responseId, object: 'response', output: [] }),
    ...NO_ITEMS,
    inputItems: 1,
    userId: gateway.userId,
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  };
  await gateway.test.context.database.responses.save(stored, Number.MAX_SAFE_INTEGER);
});
afterAll(() => gateway.test.close());

async function statusOf({ path, security }: Operation, query: string): Promise<number> {
  const bearer = security.includes('adminToken') ? ADMIN_TOKEN : gateway.key;
  const url = `${gateway.url}${path.replace(/\{\w+\}/, responseId)}?${query}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${bearer}` } });
  await response.text();
  return response.status;
}

const READ = OPERATIONS.filter(({ method }) => method === 'get').map((operation) => ({
  name: `get ${operation.path}`,
  operation,
}));

test('each of them is served', () => {
  const names = READ.map(({ name }) => name);
  for (const name of Object.keys(QUERIES)) expect(names).toContain(name);
});

test.each(READ)(
  '$name is answered or refused, whatever its query says',
  async ({ name, operation }) => {
    const params = QUERIES[name] ?? {};
    const without = name === 'get /api/admin/route' ? 'model=m' : '';
    const served = await statusOf(operation, without);
    expect([200, 400, 404]).toContain(served);
    const expectedOf = (param: string, value: string): readonly number[] => {
      if (!(param in params)) return [served];
      return params[param]?.test(value) === true ? [served, 400] : [400];
    };
    const wrong: string[] = [];
    for (const param of new Set([...Object.keys(params), ...COMMON])) {
      for (const value of VALUES) {
        const query = `${without}&${param}=${encodeURIComponent(value)}`;
        const status = await statusOf(operation, query);
        if (!expectedOf(param, value).includes(status)) wrong.push(`${param}=${value}: ${status}`);
      }
      const nested = await statusOf(operation, `${without}&${param}[a][b]=1&${param}=2&${param}=3`);
      if (nested >= 500) wrong.push(`${param}, repeated: ${nested}`);
    }
    expect(wrong).toEqual([]);
  },
);
