import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openRpcDocument } from '../../packages/contracts/src/index.ts';
import { renderRpc } from './render-rpc.mjs';
import { typeText } from './type-text.mjs';

const document = openRpcDocument({ version: '1.0.0' });
let written = '';

beforeAll(async () => {
  written = await readFile(join('docs', 'rpc.md'), 'utf8');
});

test('the reference of the management plane matches the code (pnpm build && node scripts/reference.mjs)', () => {
  expect(written).toBe(renderRpc(document));
});

test('the reference has a row for every method, notification, error and record', () => {
  const rows = written.split('\n').filter((line) => line.startsWith('| '));
  const rowOf = (start: string) => rows.filter((row) => row.startsWith(start));
  for (const { name, summary, 'x-extension': isExtension } of document.methods) {
    const mark = isExtension === true ? ' (extension)' : '';
    expect(rowOf(`| \`${name}\`${mark}<br>${summary} |`)).toHaveLength(1);
  }
  for (const { name, summary } of document['x-notifications']) {
    expect(rowOf(`| \`${name}\`<br>${summary} |`)).toHaveLength(1);
  }
  for (const { code } of Object.values(document.components.errors)) {
    expect(rowOf(`| ${code} |`)).toHaveLength(1);
  }
  for (const name of Object.keys(document.components.schemas)) {
    expect(written).toContain(`### ${name} record`);
  }
});

test('every link of the reference has a target', () => {
  const headings = [...written.matchAll(/^#+ (.+)$/gm)].map(
    ([, text = '']) => `#${text.toLowerCase().replaceAll(' ', '-')}`,
  );
  const links = [...written.matchAll(/\]\((#[^)]+)\)/g)].map(([, link]) => link);
  expect(headings).toEqual(expect.arrayContaining([...new Set(links)]));
  expect(new Set(headings).size).toBe(headings.length);
});

test.each([
  { schema: { type: 'string', format: 'uuid' }, text: 'string (uuid)' },
  {
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    text: 'string of 1–128 characters',
  },
  { schema: { type: 'string', minLength: 1 }, text: 'string, not empty' },
  { schema: { type: 'string', enum: ['admin', 'member'] }, text: '"admin" | "member"' },
  {
    schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    text: 'integer 1–200, default 50',
  },
  { schema: { type: 'integer', exclusiveMinimum: 0 }, text: 'integer at least 1' },
  { schema: { type: ['string', 'null'] }, text: 'string | null' },
  {
    schema: { type: 'array', items: { type: 'string' }, maxItems: 8 },
    text: 'string[] of at most 8',
  },
  {
    schema: { type: 'array', items: { $ref: '#/components/schemas/Key' } },
    text: '[Key](#key-record)[]',
  },
  {
    schema: {
      type: 'object',
      properties: { ok: { const: true }, note: { type: 'string' } },
      required: ['ok'],
    },
    text: '{ok: true, note?: string}',
  },
  {
    schema: { type: 'object', additionalProperties: { type: 'number' } },
    text: 'object of number',
  },
  { schema: {}, text: 'anything' },
])('a type reads: $text', ({ schema, text }) => {
  expect(typeText(schema)).toBe(text);
});

test('an object that adds fields to a record names the record', () => {
  const string = { type: 'string' };
  const key = { type: 'object', properties: { id: string, name: string, hint: string } };
  const created = {
    type: 'object',
    properties: { ...key.properties, secret: string },
    required: ['secret'],
  };
  expect(typeText(created, { Key: key })).toBe('[Key](#key-record) with {secret: string}');
});
