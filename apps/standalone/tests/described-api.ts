import { Ajv2020 } from 'ajv/dist/2020.js';

type Schema = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

interface DescribedOperation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** How an operation is called; its own example is the body unless another one is given. */
export interface Call {
  readonly id: string;
  /** Takes the place of the parameter in the path. */
  readonly name?: string | undefined;
  readonly query?: string;
  readonly body?: string | FormData;
  /** Changes fields of the example. */
  readonly change?: object;
  readonly credential?: string | undefined;
  readonly accept?: string;
}

export interface Answered {
  readonly status: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How the answer differs from the description. */
  readonly problems: readonly string[];
}

/** An API as its OpenAPI document describes it. */
export interface DescribedApi {
  readonly operations: ReadonlyMap<string, Operation>;
  call(call: Call): Promise<Answered>;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly schemes: readonly string[];
  /** Its first example, if the body is JSON. */
  readonly example: object | undefined;
  readonly responses: DescribedOperation['responses'];
}

/** Reads the description of a running service. */
export async function readDescribedApi(url: string): Promise<DescribedApi> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Description;
  const operations = operationsOf(document);
  const components = closed(document.components);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validate = (schema: Schema, value: unknown): readonly string[] => {
    const check = ajv.compile({ ...schema, components });
    check(value);
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
  return {
    operations,
    async call(call) {
      const operation = operations.get(call.id);
      if (operation === undefined) throw new Error(`there is no operation ${call.id}`);
      const response = await send(url, operation, call);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const problems = problemsOf(operation, response, bytes, validate);
      const { status } = response;
      return { status, bytes, problems: problems.map((text) => `${call.id} ${status}: ${text}`) };
    },
  };
}

function operationsOf({ paths }: Description): ReadonlyMap<string, Operation> {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): [string, Operation] => {
      const { operationId, security, requestBody, responses } = described;
      const example = requestBody?.content['application/json']?.example;
      return [
        operationId,
        {
          method: method.toUpperCase(),
          path,
          schemes: security.flatMap((scheme) => Object.keys(scheme)),
          example: typeof example === 'object' && example !== null ? example : undefined,
          responses,
        },
      ];
    }),
  );
  return new Map(all);
}

function send(url: string, operation: Operation, call: Call): Promise<Response> {
  const { method, path, example } = operation;
  const { name = '', query = '', change = {}, credential, accept = 'application/json' } = call;
  const text = example === undefined ? undefined : JSON.stringify({ ...example, ...change });
  const body = call.body ?? text;
  const isForm = typeof body === 'object';
  const target = `${url}${path.replace(/\{\w+\}/, encodeURIComponent(name))}${query}`;
  return fetch(target, {
    method,
    headers: {
      accept,
      ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
}

function problemsOf(
  { responses }: Operation,
  response: Response,
  bytes: Uint8Array,
  validate: (schema: Schema, value: unknown) => readonly string[],
): readonly string[] {
  const described = responses[String(response.status)];
  if (described === undefined) return ['the status is not described'];
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  const content = described.content[type] ?? described.content[type.replace(/\/.*/, '/*')];
  if (content === undefined) return [`the type ${type} is not described`];
  const isJson = type === 'application/json';
  return isJson ? validate(content.schema, JSON.parse(Buffer.from(bytes).toString())) : [];
}

/** The same schemas, in which objects have no field that is not described: a new one has to be described, too. */
function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closed) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) => [name, closed(field)]),
  );
  const isOpen = fields['type'] === 'object' && !('additionalProperties' in fields);
  return (isOpen ? { ...fields, additionalProperties: false } : fields) as Value;
}
