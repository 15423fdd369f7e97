const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Replaces halves of surrogate pairs in all texts of a JSON value. Pages may contain them and cutting a text may leave one, and
 * strict JSON parsers, such as that of the MCP client for Python, reject the whole message because of one.
 */
export function wellFormed<Value>(value: Value): Value {
  return replaceIn(value) as Value;
}

function replaceIn(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(LONE_SURROGATE, '\uFFFD');
  if (Array.isArray(value)) return value.map(replaceIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [replaceIn(name), replaceIn(each)]),
  );
}
