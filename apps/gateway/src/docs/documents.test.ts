import { rpcMethods, type RpcMethodName } from '@model-gateway/contracts';
import { openApiDocument } from './openapi.ts';
import { OPERATIONS } from './operations.ts';
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

const rest = openApiDocument(undefined) as unknown as Described;
const rpc = rpcOpenApiDocument('1.2.3') as unknown as Described;
const exampleIn = (operation: DescribedOperation | undefined) =>
  operation?.requestBody.content['application/json'].example;

test.each(
  OPERATIONS.filter(
    ({ request, requestType }) => request !== undefined && requestType === undefined,
  ),
)('the example of $method $path is a valid request', ({ method, path, request }) => {
  expect(request?.safeParse(exampleIn(rest.paths[path]?.[method])).error).toBeUndefined();
});

test.each(Object.keys(rpcMethods) as RpcMethodName[])(
  'the description of %s has a message with valid params',
  (name) => {
    const example = exampleIn(rpc.paths[`/api/rpc#${name}`]?.['post']);
    expect(example).toMatchObject({ jsonrpc: '2.0', id: 1, method: name });
    expect(rpcMethods[name].params.safeParse(example?.params).error).toBeUndefined();
  },
);
