import { openApiDocument } from '../../src/docs/openapi.ts';
import { ADMIN_TOKEN, startGateway, type GatewayUnderTest } from '../gateway.ts';

// What the description shows as an example is taken by a fresh instance: nothing is wrong with its form.

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}
interface DescribedOperation {
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly example?: unknown }>>;
  };
}

const { paths } = openApiDocument(undefined) as unknown as Described;
const EXAMPLES = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { security, requestBody }]) => {
    const example = requestBody?.content['application/json']?.example;
    if (example === undefined) return [];
    const isAdmin = security.some((scheme) => 'adminToken' in scheme);
    return [{ method, path, isAdmin, example, isRequired: requestBody?.required }];
  }),
);
/** A body, a method, a size, a type and a value that no one takes. */
const FORM: readonly number[] = [400, 405, 413, 415, 422];

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.test.close());

test('there are examples', () => expect(EXAMPLES.length).toBeGreaterThan(15));

type Example = Pick<(typeof EXAMPLES)[number], 'method' | 'path' | 'isAdmin'>;

const send = ({ method, path, isAdmin }: Example, body?: string): Promise<Response> =>
  fetch(gateway.url + path.replaceAll(/\{\w+\}/g, 'example'), {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${isAdmin ? ADMIN_TOKEN : gateway.key}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body }),
  });

test.each(EXAMPLES)('$method $path', async ({ example, ...described }) => {
  const response = await send(described, JSON.stringify(example));
  const answer = await response.text();
  // A key, or a right, is missing nowhere.
  expect([...FORM, 401, 403].includes(response.status) ? answer : '').toBe('');
});

test.each(EXAMPLES)('$method $path needs a body: $isRequired', async ({ isRequired, ...asked }) => {
  const response = await send(asked);
  expect(response.status === 400).toBe(isRequired);
  await response.text();
});
