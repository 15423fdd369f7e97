/** A value as JSON, and whether something was omitted. */
export interface JsonForm {
  readonly json: string | undefined;
  readonly truncated: boolean;
}

/**
 * Any value as JSON: elements as their opening tag, maps and sets as plain values, without circular references. It runs in the
 * page's main context, where the other scripts are not.
 */
export function jsonForm(root: unknown, depthMax: number): JsonForm {
  let truncated = false;
  const seen: object[] = [];
  // Some pages add a `toJSON` to all arrays or objects.
  const bare = (value: object): object => Object.setPrototypeOf(value, null) as object;
  const plain = (value: unknown, depth: number): unknown => {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'symbol') return String(value);
    if (typeof value === 'function') return `[Function ${value.name}]`;
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.includes(value)) {
      truncated = true;
      return '[Circular]';
    }
    if (depth > depthMax) {
      truncated = true;
      return Array.isArray(value) ? '[Array]' : '[Object]';
    }
    seen.push(value);
    const result = plainObject(value, depth);
    seen.pop();
    return result;
  };
  const plainObject = (value: object, depth: number): unknown => {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (value instanceof RegExp || value instanceof URL) return String(value);
    if (value instanceof Error) {
      return { name: value.name, message: value.message, stack: value.stack };
    }
    if (value instanceof Element) {
      return (value.cloneNode(false) as Element).outerHTML.replace(/<\/[^>]*>$/, '').slice(0, 500);
    }
    if (value instanceof Node) return `[${value.nodeName}]`;
    if (value === globalThis) return '[Window]';
    if (value instanceof Map) {
      const entries = [...value].map(([key, inner]) => [String(key), plain(inner, depth + 1)]);
      return Object.fromEntries(entries);
    }
    const isList =
      Array.isArray(value) ||
      value instanceof Set ||
      value instanceof NodeList ||
      value instanceof HTMLCollection ||
      (ArrayBuffer.isView(value) && !(value instanceof DataView));
    if (isList) {
      return bare(
        Array.from(value as Iterable<unknown>, (inner) => plain(inner, depth + 1) ?? null),
      );
    }
    const own: unknown =
      'toJSON' in value && typeof value.toJSON === 'function'
        ? Reflect.apply(value.toJSON, value, [])
        : value;
    if (typeof own !== 'object' || own === null) return own;
    return bare(
      Object.fromEntries(
        Object.entries(own).map(([key, inner]: [string, unknown]) => [
          key,
          plain(inner, depth + 1),
        ]),
      ),
    );
  };
  return { json: JSON.stringify(plain(root, 0)), truncated };
}
