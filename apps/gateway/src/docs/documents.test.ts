import { rpcMethods, type RpcMethodName } from '@model-gateway/contracts';
import { openApiDocument } from './openapi.ts';
import { DESCRIBED_OPERATIONS } from '../operations/all.ts';
import { rpcOpenApiDocument } from './rpc-openapi.ts';

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}
interface DescribedOperation {
  readonly security: readonly object[];
  readonly requestBody: {
    readonly content: { readonly 'application/json': { readonly example: RpcExample } };
  };
}
interface RpcExample {
  readonly method: string;
  readonly params: unknown;
}

const restDocument = openApiDocument(undefined);
const rest = restDocument as unknown as Described;
const rpc = rpcOpenApiDocument('1.2.3') as unknown as Described;
const exampleIn = (operation: DescribedOperation | undefined) =>
  operation?.requestBody.content['application/json'].example;

test.each(
  DESCRIBED_OPERATIONS.filter(
    ({ request, requestType }) => request !== undefined && requestType === undefined,
  ),
)('the example of $method $path is a valid request', ({ method, path, request }) => {
  expect(request?.schema.safeParse(exampleIn(rest.paths[path]?.[method])).error).toBeUndefined();
});

test.each(Object.keys(rpcMethods) as RpcMethodName[])(
  'the description of %s has a message with valid params',
  (name) => {
    const example = exampleIn(rpc.paths[`/api/rpc#${name}`]?.['post']);
    expect(example).toMatchObject({ jsonrpc: '2.0', id: 1, method: name });
    expect(rpcMethods[name].params.safeParse(example?.params).error).toBeUndefined();
  },
);

/** Every value of a key anywhere in a document. */
function valuesOf(document: unknown, key: string): readonly unknown[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]: [string, unknown]) => [
    ...(name === key ? [value] : []),
    ...valuesOf(value, key),
  ]);
}

test('every reference resolves, and every component is referred to', () => {
  const { schemas } = restDocument['components'] as { readonly schemas: object };
  const referred = new Set(valuesOf(restDocument, '$ref').map(String));
  const known = Object.keys(schemas).map((name) => `#/components/schemas/${name}`);
  expect([...referred].toSorted()).toEqual(known.toSorted());
});

test('every operation has a name of its own', () => {
  const names = valuesOf(rest.paths, 'operationId');
  expect(names).toEqual(DESCRIBED_OPERATIONS.map(({ id }) => id));
  expect(new Set(names).size).toBe(names.length);
});

test('the server is the public address, or that of the description', () => {
  expect(openApiDocument('https://models.example.com/')['servers']).toEqual([
    { url: 'https://models.example.com' },
  ]);
  expect(restDocument['servers']).toMatchObject([{ url: '/' }]);
});

test('no bound is larger than what a tool would fill, and no pattern has classes of Unicode', () => {
  const bounds = ['minItems', 'maxItems'].flatMap((key) => valuesOf(restDocument, key));
  expect(bounds.filter((bound) => Number(bound) > 1_000)).toEqual([]);
  const patterns = valuesOf(restDocument, 'pattern').map(String);
  expect(patterns.length).toBeGreaterThan(0);
  expect(patterns.filter((pattern) => /\\p\{/i.test(pattern))).toEqual([]);
});

test('the query of an operation is described by its parameters', () => {
  const parameters = valuesOf(rest.paths['/api/admin/route'], 'parameters').flat();
  expect(parameters).toMatchObject([
    { name: 'model', in: 'query', required: true },
    { name: 'key', in: 'query', required: false },
    { name: 'capability', in: 'query' },
    { name: 'provider', in: 'query' },
  ]);
  expect(valuesOf(rest.paths['/api/admin/audit'], 'name')).toEqual(['from', 'to', 'after']);
  expect(valuesOf(rest.paths['/v1/responses/{id}/input_items'], 'name')).toEqual(
    expect.arrayContaining(['id', 'after', 'limit', 'order']),
  );
});

test('the streams that end with an end mark say so, and no others', () => {
  const ends = (path: string) =>
    valuesOf(rest.paths[path], 'text/event-stream').map((stream) =>
      JSON.stringify(stream).includes('[DONE]'),
    );
  expect(ends('/v1/chat/completions')).toEqual([true]);
  expect(ends('/v1/messages')).toEqual([false]);
});

test('a message of the Messages API needs a number of tokens, and its errors have the form of that API', () => {
  const { schemas } = restDocument['components'] as {
    readonly schemas: Readonly<Record<string, { readonly required?: readonly string[] }>>;
  };
  expect(schemas['MessageRequest']?.required).toContain('max_tokens');
  expect(schemas['MessageTokensRequest']?.required).not.toContain('max_tokens');
  const errors = valuesOf(rest.paths['/v1/messages'], 'default');
  expect(valuesOf(errors, '$ref')).toEqual(['#/components/schemas/MessagesError']);
});
