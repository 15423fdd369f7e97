/** Shorter ones are dummies and part of ordinary texts. */
const SECRET_CHARS_MIN = 12;
const TEXT_CHARS_MAX = 64 * 1024;
const TEXTS_MAX = 20_000;
const SECRET_SETTING = /(?:TOKEN|SECRET|KEY|PASSWORD)$/;
const SECRET_FIELDS = new Set([
  'password',
  'new_password',
  // Of `auth.change_password`.
  'current',
  'next',
  'api_key',
  'api_keys',
  'token',
  'secret',
  'access_token',
  'refresh_token',
  'key',
]);
const KEY_HEADERS = ['x-api-key', 'api-key'];

/** The secrets of a test file, and the texts in which none of them may be. */
interface SecretWatch {
  secret(kind: string, value: unknown): void;
  text(source: string, text: string): void;
  /** Where secrets were found, as `<kind> in <source>`; never the secrets themselves. */
  findings(): readonly string[];
}

let current: SecretWatch | undefined;

/**
 * Searches the logs, the outputs of processes and the bodies of errors of a test file for its secrets: those that the testkit makes,
 * and those in the requests and answers of `fetch`. For suites about secrets; call it at the top.
 */
export function watchForSecrets(): void {
  const { fetch } = globalThis;
  beforeAll(() => {
    current = createSecretWatch();
    globalThis.fetch = watchedFetch(fetch, current);
  });
  afterAll(() => {
    globalThis.fetch = fetch;
    expect(current?.findings()).toEqual([]);
    current = undefined;
  });
}

/** Registers a secret: it must not be in any text. */
export const watchSecret = (kind: string, value: string): void => current?.secret(kind, value);

/** Registers the secrets of an environment. */
export function watchEnvironment(environment: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(environment))
    if (SECRET_SETTING.test(name)) watchSecret(name, value);
}

/** Registers a text: a line of a log or of an output. */
export const watchText = (source: string, text: string): void => current?.text(source, text);

export function createSecretWatch(): SecretWatch {
  const secrets = new Map<string, string>();
  const texts: { readonly source: string; readonly text: string }[] = [];
  return {
    secret(kind, value) {
      if (typeof value === 'string' && value.length >= SECRET_CHARS_MIN && !/\s/.test(value))
        secrets.set(value, kind);
    },
    text(source, text) {
      if (texts.length < TEXTS_MAX) texts.push({ source, text: text.slice(0, TEXT_CHARS_MAX) });
    },
    // At the end, because a secret may be known only after it was written.
    findings() {
      const found = texts.flatMap(({ source, text }) =>
        [...secrets].flatMap(([value, kind]) =>
          text.includes(value) ? [`${kind} in ${source}`] : [],
        ),
      );
      return [...new Set(found)];
    },
  };
}

/** A fetch that tells the watch what it sees: secrets in exchanges that succeed, and the bodies of those that do not. */
export function watchedFetch(fetch: typeof globalThis.fetch, watch: SecretWatch) {
  return async (...[input, options]: Parameters<typeof fetch>): Promise<Response> => {
    const response = await fetch(input, options);
    // Reading a copy of a stream would hold the stream in memory.
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    if (!isJson && response.ok) return response;
    const text = await response.clone().text();
    const answer = parsed(text);
    if (!response.ok || hasError(answer)) {
      watch.text(`${response.status} of ${new URL(response.url).pathname}`, text);
      return response;
    }
    addHeaders(new Headers(options?.headers), watch);
    addCookies(response.headers.getSetCookie(), watch);
    addFields(parsed(options?.body), watch);
    addFields(answer, watch);
    return response;
  };
}

const hasError = (body: unknown): boolean =>
  [body]
    .flat()
    .some(
      (one: unknown) =>
        typeof one === 'object' && one !== null && 'error' in one && Boolean(one.error),
    );

function addHeaders(headers: Headers, watch: SecretWatch): void {
  watch.secret('bearer', /^bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1]);
  for (const name of KEY_HEADERS) watch.secret(name, headers.get(name));
  addCookies(headers.get('cookie')?.split(';') ?? [], watch);
}

/** `name=value`, with or without attributes. */
function addCookies(cookies: readonly string[], watch: SecretWatch): void {
  for (const cookie of cookies) watch.secret('cookie', /^[^=;]+=([^;]+)/.exec(cookie)?.[1]);
}

function addFields(value: unknown, watch: SecretWatch): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, entry] of Object.entries(value)) {
    if (SECRET_FIELDS.has(name)) for (const one of [entry].flat()) watch.secret(name, one);
    addFields(entry, watch);
  }
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
