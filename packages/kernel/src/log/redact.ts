import { isError } from '../errors/errors.ts';

const REDACTED = '[redacted]';
const DEPTH_MAX = 6;
const ENTRIES_MAX = 50;
const TEXT_CHARS_MAX = 4096;
const ID_CHARS_MAX = 64;

// Names of fields that can contain a secret or a prompt.
const SECRET_NAMES = new Set(
  [
    'authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'password',
    'passphrase',
    'secret',
    'token',
    'access_token',
    'refresh_token',
    'id_token',
    'admin_token',
    'jwt',
    'jwt_secret',
    'api_key',
    'api_keys',
    'apikey',
    'x-api-key',
    'key',
    'private_key',
    'encryption_key',
    'credentials',
    'prompt',
    'negative_prompt',
    'messages',
    'content',
    'input',
  ].map(normalize),
);

// Secrets inside a text: keys and tokens of this service, bearer values, JWTs, credentials and tokens in URLs.
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`],
  [/\bservice-[0-9a-f]{8}-[0-9a-f-]{4,27}/gi, `service-${REDACTED}`],
  [/\b(agt|inv|sk)-[A-Za-z0-9_-]{16,}/g, `$1-${REDACTED}`],
  [/\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, REDACTED],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, `$1${REDACTED}@`],
  [
    /([?&](?:token|access_token|refresh_token|api_key|apikey|key|password|secret)=)[^&\s"']+/gi,
    `$1${REDACTED}`,
  ],
];

// No secret is so short and has only these characters. Most texts in logs are ids, and every request logs one.
const ID = /^[0-9a-f-]*$/;

/** Replaces every secret inside a text. */
export function redactText(text: string): string {
  if (text.length <= ID_CHARS_MAX && ID.test(text)) return text;
  let clean = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
  for (const [pattern, replacement] of SECRET_TEXTS) clean = clean.replace(pattern, replacement);
  return clean;
}

/** A copy of the value that is safe to log: bounded in depth and width, without secrets. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value;
  if (depth >= DEPTH_MAX) return '[…]';
  if (isError(value)) return redactError(value, depth);
  if (Array.isArray(value)) {
    return value.slice(0, ENTRIES_MAX).map((entry) => redact(entry, depth + 1));
  }
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const copy: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value).slice(0, ENTRIES_MAX)) {
    copy[name] = isSecretName(name) && isPresent(entry) ? REDACTED : redact(entry, depth + 1);
  }
  return copy;
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const code: unknown = 'code' in error ? error.code : undefined;
  // An error whose message is only for its caller has a separate text for logs.
  const loggedAs: unknown = 'loggedAs' in error ? error.loggedAs : undefined;
  const shown = typeof loggedAs === 'string' ? loggedAs : error.message;
  return {
    type: error.name,
    message: redactText(shown),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack === undefined
      ? {}
      : { stack: redactText(error.stack.replace(error.message, () => shown)) }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}

function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(normalize(name));
}

function isPresent(entry: unknown): boolean {
  return (
    entry !== undefined && entry !== null && typeof entry !== 'boolean' && typeof entry !== 'number'
  );
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}
