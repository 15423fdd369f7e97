const SECRET = /password|secret|^(?:\w+_)?token$|api_?keys?$|^key$|^link$|hash$|^current$|^next$/i;
/** A person can be removed from the service, but not from the chain, so the chain never has these. */
const PERSONAL = /^(?:user_)?email$/i;
const HIDDEN = '[hidden]';
const DEPTH_MAX = 8;
const BYTES_MAX = 16 * 1024;

/** What of a value may be in the audit log: no secrets, no emails, and not too much. */
export function auditValue(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  const kept = withoutSecrets(value, 0);
  const text = JSON.stringify(kept);
  return text.length <= BYTES_MAX ? kept : { shortened: text.slice(0, BYTES_MAX / 4) };
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return HIDDEN;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      if (PERSONAL.test(name) || field === undefined) return [];
      const isSecret = SECRET.test(name) && field !== null;
      return [[name, isSecret ? HIDDEN : withoutSecrets(field, depth + 1)]];
    }),
  );
}
