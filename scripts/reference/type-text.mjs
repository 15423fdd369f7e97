// Describes a JSON Schema as short text.

const RECORD_FIELDS_MIN = 3;

/**
 * @param {Readonly<Record<string, any>>} schema
 * @param {Readonly<Record<string, any>>} [records] the schemas that have a name
 * @returns {string}
 */
export function typeText(schema, records = {}) {
  const { default: preset, description } = schema;
  return [
    shapeText(schema, records),
    ...(description === undefined ? [] : [description]),
    ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`]),
  ].join(', ');
}

function shapeText(schema, records) {
  if (schema.$ref !== undefined) return recordLink(schema.$ref.split('/').at(-1));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((option) => typeText(option, records)).join(' | ');
  }
  if (Array.isArray(schema.type)) return schema.type.join(' | ');
  switch (schema.type) {
    case 'string':
      return stringText(schema);
    case 'integer':
    case 'number':
      return [schema.type, rangeOf(numberBounds(schema))].filter(Boolean).join(' ');
    case 'array':
      return arrayText(schema, records);
    case 'object':
      return objectText(schema, records);
    case undefined:
      return 'anything';
    default:
      return schema.type;
  }
}

function stringText({ format, pattern, minLength, maxLength }) {
  if (minLength === 1 && maxLength === undefined) return 'string, not empty';
  const length = format === undefined ? rangeOf({ min: minLength, max: maxLength }) : undefined;
  return [
    format === undefined ? 'string' : `string (${format})`,
    ...(length === undefined ? [] : [`of ${length} characters`]),
    ...(pattern === undefined ? [] : [`matching \`${pattern}\``]),
  ].join(' ');
}

function arrayText({ items, minItems, maxItems }, records) {
  const item = typeText(items, records);
  const count = rangeOf({ min: minItems, max: maxItems });
  const list = /[ ,|]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
  return count === undefined ? list : `${list} of ${count}`;
}

function objectText(schema, records) {
  const { properties, required = [], additionalProperties } = schema;
  if (properties === undefined) {
    return Object.keys(additionalProperties ?? {}).length === 0
      ? 'object'
      : `object of ${typeText(additionalProperties, records)}`;
  }
  const base = recordWithin(properties, records);
  const own = Object.entries(properties)
    .filter(([name]) => base === undefined || !(name in base.properties))
    .map(
      ([name, value]) =>
        `${name}${required.includes(name) ? '' : '?'}: ${typeText(value, records)}`,
    );
  const rest = additionalProperties === undefined ? [] : ['…'];
  const braces = `{${[...own, ...rest].join(', ')}}`;
  return base === undefined ? braces : `${recordLink(base.name)} with ${braces}`;
}

/** The record that an object adds fields to, if it does. */
function recordWithin(properties, records) {
  const contained = Object.entries(records).find(([, record]) => {
    const fields = Object.entries(record.properties ?? {});
    return (
      fields.length >= RECORD_FIELDS_MIN &&
      fields.every(([name, value]) => JSON.stringify(properties[name]) === JSON.stringify(value))
    );
  });
  const [name, record] = contained ?? [];
  return name === undefined ? undefined : { name, properties: record.properties };
}

const recordLink = (name) => `[${name}](#${name.toLowerCase()}-record)`;

function numberBounds({ type, minimum, maximum, exclusiveMinimum }) {
  const above =
    exclusiveMinimum === undefined || type !== 'integer' ? undefined : exclusiveMinimum + 1;
  return { min: minimum ?? above, max: maximum };
}

function rangeOf({ min, max }) {
  if (min === undefined && max === undefined) return undefined;
  if (min === undefined) return `at most ${max}`;
  if (max === undefined) return `at least ${min}`;
  return min === max ? `${min}` : `${min}–${max}`;
}
