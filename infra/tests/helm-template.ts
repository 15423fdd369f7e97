import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { Manifest } from './manifest.ts';

type Values = Readonly<Record<string, unknown>>;

/** What `.` and the variables of a `range` stand for. */
interface Scope {
  readonly dot: unknown;
  readonly variables?: Values;
}

/** A part of a template: text, or an action with what it contains. */
type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly pipeline: string }
  | { readonly kind: 'fail'; readonly message: string }
  | {
      readonly kind: 'if';
      readonly pipeline: string;
      readonly nodes: readonly Node[];
      readonly otherwise: readonly Node[];
    }
  | { readonly kind: 'range'; readonly pipeline: string; readonly nodes: readonly Node[] };

/** The values of a chart, with others in their place. */
export function chartValues(chart: string, others: Values = {}): Values {
  return merged(parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Values, others);
}

/**
 * Does the same as `helm template` for the part of the template language that our chart uses: `if`, `if not`, `if kindIs`, `else`,
 * `range`, `fail`, values, and the functions below. Everything else is an error, so that a test never sees less than a cluster would.
 */
export function renderChart(chart: string, values: Values): readonly Manifest[] {
  const folder = join(chart, 'templates');
  return readdirSync(folder).flatMap((file) =>
    parseManifests(renderTemplate(readFileSync(join(folder, file), 'utf8'), values), file),
  );
}

export function renderTemplate(template: string, values: Values): string {
  return render(parseTemplate(template), { dot: { Values: values } });
}

/** Lists are replaced, maps are merged, as Helm does. */
function merged(values: Values, others: Values): Values {
  const entries = Object.entries(others).map(([name, other]) => {
    const value = values[name];
    return [name, isMap(value) && isMap(other) ? merged(value, other) : other] as const;
  });
  return { ...values, ...Object.fromEntries(entries) };
}

const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseManifests(text: string, file: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw new Error(`${file}: ${problem.message}`);
    const manifest = document.toJS({ maxAliasCount: 0 }) as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

const ACTION = /\{\{(-?)\s*(.*?)\s*(-?)\}\}/gs;

function parseTemplate(template: string): readonly Node[] {
  const root: Node[] = [];
  const open: { readonly nodes: Node[]; readonly otherwise?: Node[] }[] = [{ nodes: root }];
  const add = (node: Node): void => void open.at(-1)?.nodes.push(node);
  let from = 0;
  let isTrimmed = false;
  const addText = (text: string, isEndTrimmed: boolean): void => {
    const begun = isTrimmed ? text.trimStart() : text;
    add({ kind: 'text', text: isEndTrimmed ? begun.trimEnd() : begun });
  };
  for (const { 0: whole, 1: before, 2: action = '', 3: after, index } of template.matchAll(
    ACTION,
  )) {
    addText(template.slice(from, index), before === '-');
    isTrimmed = after === '-';
    from = index + whole.length;
    const [keyword = '', ...rest] = action.split(/\s+/);
    if (keyword === 'if') {
      const [nodes, otherwise]: [Node[], Node[]] = [[], []];
      add({ kind: keyword, pipeline: rest.join(' '), nodes, otherwise });
      open.push({ nodes, otherwise });
    } else if (keyword === 'range') {
      const nodes: Node[] = [];
      add({ kind: keyword, pipeline: rest.join(' '), nodes });
      open.push({ nodes });
    } else if (action === 'else') {
      const { otherwise } = open.pop() ?? {};
      if (otherwise === undefined) throw new Error('an else without an if');
      open.push({ nodes: otherwise });
    } else if (keyword === 'end') {
      if (open.length === 1) throw new Error('an end without a beginning');
      open.pop();
    } else if (keyword === 'fail') {
      add({ kind: 'fail', message: JSON.parse(rest.join(' ')) as string });
    } else add({ kind: 'value', pipeline: action });
  }
  addText(template.slice(from), false);
  if (open.length > 1) throw new Error('an if or range without an end');
  return root;
}

function render(nodes: readonly Node[], scope: Scope): string {
  return nodes.map((node) => renderNode(node, scope)).join('');
}

function renderNode(node: Node, scope: Scope): string {
  if (node.kind === 'text') return node.text;
  if (node.kind === 'fail') throw new Error(node.message);
  if (node.kind === 'value') return textOf(evaluate(node.pipeline, scope), node.pipeline);
  const { pipeline, nodes } = node;
  if (node.kind === 'if')
    return render(isTrue(evaluate(pipeline, scope)) ? nodes : node.otherwise, scope);
  const entries = /^(\$\w+), (\$\w+) := (.*)$/.exec(pipeline);
  if (entries !== null) {
    const [, name = '', value = '', map = ''] = entries;
    return entriesOf(evaluate(map, scope), pipeline)
      .map((entry) => ({ ...scope, variables: { [name]: entry[0], [value]: entry[1] } }))
      .map((inner) => render(nodes, inner))
      .join('');
  }
  const list = evaluate(pipeline, scope);
  if (!Array.isArray(list)) throw new Error(`{{ range ${pipeline} }} is no list`);
  return list.map((dot: unknown) => render(nodes, { ...scope, dot })).join('');
}

/** A value, or a value and the functions that it goes through. */
function evaluate(pipeline: string, scope: Scope): unknown {
  const [first = '', ...calls] = pipeline.split(/\s*\|\s*/);
  const [, kind, asked = ''] = /^kindIs "(\w+)" (\S+)$/.exec(first) ?? [];
  if (kind !== undefined) return kind === kindOf(lookUp(asked, scope));
  const isNegated = first.startsWith('not ');
  const value = lookUp(isNegated ? first.slice('not '.length) : first, scope);
  return calls.reduce<unknown>(applied, isNegated ? !isTrue(value) : value);
}

/** In the order of Helm. */
function entriesOf(value: unknown, where: string): readonly (readonly [string, unknown])[] {
  if (!isMap(value)) throw new Error(`{{ range ${where} }} is no map`);
  return Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function lookUp(path: string, { dot, variables = {} }: Scope): unknown {
  if (path === '.') return dot;
  if (path in variables) return variables[path];
  if (!/^(\.\w+)+$/.test(path)) throw new Error(`{{ ${path} }} is not supported here`);
  let value: unknown = dot;
  for (const name of path.slice(1).split('.')) {
    // Helm would print "<no value>".
    if (!isMap(value) || !(name in value)) throw new Error(`there is no value ${path}`);
    value = value[name];
  }
  return value;
}

function applied(value: unknown, call: string): unknown {
  const [name, argument] = call.split(/\s+/);
  if (name === 'toYaml') return stringify(value).trimEnd();
  if (name === 'toJson') return JSON.stringify(value);
  const text = textOf(value, call);
  if (name === 'indent') return text.replaceAll(/^/gm, ' '.repeat(Number(argument)));
  if (name === 'quote') return JSON.stringify(text);
  if (name === 'sha256sum') return createHash('sha256').update(text).digest('hex');
  throw new Error(`the function ${call} is not supported here`);
}

const isTrue = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isMap(value) ? Object.keys(value).length > 0 : !!value;

function textOf(value: unknown, where: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean') return String(value);
  throw new Error(`{{ ${where} }} is no text`);
}

/** Go prints numbers of values, which are of the type float64, with an exponent from a million on. */
function numberText(value: number): string {
  if (Math.abs(value) < 1_000_000) return String(value);
  return value.toExponential().replace(/e\+(\d)$/, 'e+0$1');
}

/** The kind of a value in Go. */
function kindOf(value: unknown): string {
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}
