/** JSON as it is written: with duplicate keys, keys such as `__proto__`, and texts that are no JSON value. */
export type JsonTree =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly JsonTree[] }
  | { readonly kind: 'object'; readonly fields: readonly Field[] };

type Field = readonly [name: string, value: JsonTree];

/** A value by its own text, valid or not. */
export const rawTree = (text: string): JsonTree => ({ kind: 'text', text });

/** A list of trees. */
export const listTree = (items: readonly JsonTree[]): JsonTree => ({ kind: 'list', items });

/** An object; `undefined` fields are left out. */
export function objectTree(fields: Readonly<Record<string, JsonTree | undefined>>): JsonTree {
  const present = Object.entries(fields).flatMap(([name, value]): Field[] =>
    value === undefined ? [] : [[name, value]],
  );
  return { kind: 'object', fields: present };
}

/** The tree of a value. */
export function treeOf(value: unknown): JsonTree {
  if (Array.isArray(value)) return listTree(value.map(treeOf));
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, each]): Field => [name, treeOf(each)]);
    return { kind: 'object', fields };
  }
  return rawTree(JSON.stringify(value) ?? 'null');
}

/** The text of a tree. */
export function writeTree(tree: JsonTree): string {
  switch (tree.kind) {
    case 'text':
      return tree.text;
    case 'list':
      return `[${tree.items.map(writeTree).join(',')}]`;
    case 'object':
      return `{${tree.fields.map(([name, value]) => `${JSON.stringify(name)}:${writeTree(value)}`).join(',')}}`;
  }
}

/** A change at one place of a tree. */
export interface TreeChange {
  /** The place, counted in the order of writing, modulo the number of places. */
  readonly at: number;
  readonly kind: 'replace' | 'remove' | 'repeat' | 'wrap' | 'rename' | 'add';
  /** The text that is inserted. */
  readonly text: string;
  readonly name: string;
}

/** Carries out a change. */
export function changeTree(tree: JsonTree, change: TreeChange): JsonTree {
  let left = change.at % countPlaces(tree);
  const visit = (place: JsonTree): readonly JsonTree[] => {
    const isHere = left === 0;
    left -= 1;
    if (isHere) return changed(place, change);
    if (left < 0 || place.kind === 'text') return [place];
    if (place.kind === 'list') return [listTree(place.items.flatMap(visit))];
    const fields = place.fields.flatMap(([name, value]): Field[] => {
      const isValueHere = left === 0;
      const shown = isValueHere && change.kind === 'rename' ? change.name : name;
      return visit(value).map((each): Field => [shown, each]);
    });
    return [{ kind: 'object', fields }];
  };
  return visit(tree)[0] ?? rawTree('');
}

function changed(place: JsonTree, { kind, text, name }: TreeChange): readonly JsonTree[] {
  switch (kind) {
    case 'replace':
      return [rawTree(text)];
    case 'remove':
      return [];
    case 'repeat':
      return [place, place];
    case 'wrap':
      return [listTree([place])];
    case 'rename':
      return [place];
    case 'add':
      if (place.kind === 'text') return [rawTree(text)];
      if (place.kind === 'list') return [listTree([...place.items, rawTree(text)])];
      return [{ kind: 'object', fields: [...place.fields, [name, rawTree(text)]] }];
  }
}

function countPlaces(tree: JsonTree): number {
  if (tree.kind === 'text') return 1;
  const inner = tree.kind === 'list' ? tree.items : tree.fields.map(([, value]) => value);
  return inner.reduce((count, each) => count + countPlaces(each), 1);
}
