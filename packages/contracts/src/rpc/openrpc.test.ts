import metaSchema from '@open-rpc/meta-schema';
import { Ajv } from 'ajv';
import { rpcMethods } from './methods.ts';
import { rpcNotifications } from './notifications.ts';
import { openRpcDocument } from './openrpc.ts';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema';
const DRAFT_7_TEXT = `${DRAFT_7}#/properties/$id`;

const document = openRpcDocument({ version: '1.2.3', serverUrl: 'https://gateway.example/' });
const methodNamed = (name: string) => document.methods.find((method) => method.name === name);

/** The official schema refers to a copy of JSON Schema draft 7, which Ajv has under another name. */
function createValidator() {
  const text = JSON.stringify(metaSchema)
    .replaceAll(
      'https://meta.json-schema.tools/#/definitions/JSONSchemaObject/properties/$ref',
      DRAFT_7_TEXT,
    )
    .replaceAll(/https:\/\/meta\.json-schema\.tools\/?/g, DRAFT_7);
  return new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(text) as object);
}

test('the document is valid OpenRPC', () => {
  const validate = createValidator();
  validate(document);
  expect(validate.errors).toBeNull();
});

test('the official schema refuses what is not OpenRPC', () => {
  expect(createValidator()({ ...document, methods: [{ name: 'no params' }] })).toBe(false);
});

test('it lists every method once, and says which are extensions', () => {
  const names = document.methods.map((method) => method.name);
  expect(names).toEqual(Object.keys(rpcMethods));
  const specified = document.methods.filter((method) => method['x-extension'] === undefined);
  expect(specified).toHaveLength(57);
});

test('extensions are described like any other method', () => {
  expect(methodNamed('billing.tiers.set')).toMatchObject({
    'x-extension': true,
    paramStructure: 'by-name',
    params: [
      { name: 'name', required: true },
      { name: 'monthly_usd_quota', required: false },
      {},
      {},
    ],
    'x-auth': 'admin-or-admin-token',
  });
});

test('it lists every notification', () => {
  expect(document['x-notifications'].map((notification) => notification.name)).toEqual(
    Object.keys(rpcNotifications),
  );
});

test('no schema has a list of types, for which generators write no type', () => {
  expect(JSON.stringify(document)).not.toContain('"type":[');
  expect(JSON.stringify(document)).toContain('"anyOf":[{"type":"string"},{"type":"null"}]');
});

test('it contains the URL of the service', () => {
  expect(document.servers).toEqual([
    { name: 'this service', url: 'https://gateway.example/api/rpc' },
  ]);
  expect(openRpcDocument({ version: '1.2.3' })).not.toHaveProperty('servers');
});

test('params are described one by one, required ones first', () => {
  expect(methodNamed('auth.register')).toEqual({
    name: 'auth.register',
    summary: expect.any(String),
    paramStructure: 'by-name',
    params: [
      {
        name: 'email',
        required: true,
        schema: { type: 'string', format: 'email', maxLength: 254 },
      },
      {
        name: 'password',
        required: true,
        schema: { type: 'string', minLength: 8, maxLength: 128 },
      },
      { name: 'name', required: false, schema: { type: 'string', maxLength: 128 } },
    ],
    result: {
      name: 'result',
      required: true,
      schema: { $ref: '#/components/schemas/SignedIn' },
    },
    'x-auth': 'public',
  });
});

test('defaults are listed, also for clamped numbers', () => {
  expect(methodNamed('usage.list')?.params[0]).toEqual({
    name: 'limit',
    required: false,
    schema: { type: 'integer', default: 50, description: 'clamped to 1–200' },
  });
});

test('every reference resolves', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, path]) => path,
  );
  const known = Object.keys(document.components.schemas).map(
    (name) => `#/components/schemas/${name}`,
  );
  expect(known).toEqual(expect.arrayContaining([...new Set(references)]));
  expect(references.length).toBeGreaterThan(10);
});

test('it is the same every time', () => {
  const again = openRpcDocument({ version: '1.2.3', serverUrl: 'https://gateway.example/' });
  expect(JSON.stringify(again)).toBe(JSON.stringify(document));
});
