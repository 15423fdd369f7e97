type Schema = Readonly<Record<string, unknown>>;
type NamedSchemas = Readonly<Record<string, Schema>>;

/** Values that say more than their type, by the name of the field. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  alias: 'fast',
  content: 'Say hello in five words.',
  current: 'correct horse battery staple',
  email: 'you@example.com',
  model: 'demo-chat',
  next: 'another horse, another battery',
  password: 'correct horse battery staple',
  prompt: 'A boat on a calm sea.',
  role: 'user',
  target: 'demo-chat',
  tier: 'enterprise',
};

const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T00:00:00Z',
  email: 'you@example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** An example of what a schema accepts: the required fields, with values that a person can replace. */
export function exampleOf(schema: Schema, named: NamedSchemas = {}, field = ''): unknown {
  for (const key of ['example', 'default', 'const']) if (key in schema) return schema[key];
  const reference = schema['$ref'];
  if (typeof reference === 'string') return exampleOf(referred(reference, named), named, field);
  const choices = schema['enum'] ?? schema['anyOf'] ?? schema['oneOf'];
  if (schema['enum'] !== undefined && Array.isArray(choices))
    return choices.includes(BY_NAME[field]) ? BY_NAME[field] : choices[0];
  if (Array.isArray(choices)) return exampleOf(schemaOf(choices[0]), named, field);
  return exampleOfType(schema, named, field);
}

function exampleOfType(schema: Schema, named: NamedSchemas, field: string): unknown {
  switch (schema['type']) {
    case 'object':
      return exampleOfObject(schema, named);
    case 'array':
      return Number(schema['minItems'] ?? 0) > 0
        ? [exampleOf(schemaOf(schema['items']), named, field)]
        : [];
    case 'integer':
    case 'number':
      return smallest(schema['minimum']);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return BY_NAME[field] ?? BY_FORMAT[String(schema['format'])] ?? 'example';
  }
}

function exampleOfObject(schema: Schema, named: NamedSchemas): unknown {
  const properties = schemaOf(schema['properties']);
  const required: unknown = schema['required'];
  if (!Array.isArray(required)) return {};
  return Object.fromEntries(
    required.map((name: string) => [name, exampleOf(schemaOf(properties[name]), named, name)]),
  );
}

const smallest = (minimum: unknown): number =>
  typeof minimum === 'number' && minimum >= 0 ? minimum : 1;

function referred(reference: string, named: NamedSchemas): Schema {
  return named[reference.slice(reference.lastIndexOf('/') + 1)] ?? {};
}

const schemaOf = (value: unknown): Schema =>
  typeof value === 'object' && value !== null ? (value as Schema) : {};
