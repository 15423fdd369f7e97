// Collects the secrets that a test file makes and the texts in which no secret may be: logs, outputs of processes and error
// bodies. They are searched at the end of the file, once, because a secret may be known only after it was written.
import { findSecrets } from './find-secrets.mjs';

/** Shorter ones are dummies and part of ordinary texts. */
const SECRET_CHARS_MIN = 12;
const TEXT_CHARS_MAX = 64 * 1024;
const JSON_BYTES_MAX = 1024 * 1024;
const HELD_CHARS_MAX = 32 * 1024 * 1024;
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

/** The watch of one worker, over the test file that runs. */
export function createSecretWatch() {
  const secrets = new Map();
  const texts = [];
  const findings = new Set();
  let chars = 0;

  function search() {
    for (const finding of findSecrets(secrets, texts.splice(0))) findings.add(finding);
    chars = 0;
  }

  return {
    secret(kind, value) {
      if (typeof value === 'string' && value.length >= SECRET_CHARS_MIN) secrets.set(value, kind);
    },
    text(source, text) {
      texts.push({ source, text: text.slice(0, TEXT_CHARS_MAX) });
      chars += Math.min(text.length, TEXT_CHARS_MAX);
      if (chars > HELD_CHARS_MAX) search();
    },
    /** What was found since the last call. */
    takeFindings() {
      search();
      const found = [...findings];
      findings.clear();
      secrets.clear();
      return found;
    },
  };
}

/** A fetch that tells the watch what it sees: secrets in exchanges that succeed, and the bodies of those that do not. */
export function watchedFetch(fetch, watch) {
  return async function watched(input, options) {
    const response = await fetch(input, options);
    // A tee holds a stream in memory; only short JSON is read.
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const isShort = Number(response.headers.get('content-length') ?? Infinity) < JSON_BYTES_MAX;
    if ((isJson && isShort) || !response.ok) {
      const copy = response.clone();
      void copy.text().then(
        (text) => look(text, response),
        () => undefined,
      );
    }
    return response;

    function look(text, { ok, status, url }) {
      const body = parsed(text);
      if (!ok || hasError(body)) {
        watch.text(`${status} of ${new URL(url).pathname}`, text);
        return;
      }
      addHeaders(options?.headers, watch);
      addCookies(response.headers.getSetCookie(), watch);
      addFields(parsed(options?.body), watch);
      addFields(body, watch);
    }
  };
}

/**
 * Shows the watch what clients of `node:http` receive. Every chunk of a message passes `push`, and null at the end; messages that
 * a server receives have no status.
 */
export function watchHttpClients({ prototype }, watch) {
  const bodies = new WeakMap();
  const { push } = prototype;
  prototype.push = function pushWatched(chunk, encoding) {
    if (isWatchedResponse(this)) {
      const body = bodies.get(this) ?? { text: '' };
      bodies.set(this, body);
      if (chunk === null) lookAtResponse(this, body.text, watch);
      else if (body.text.length < TEXT_CHARS_MAX) body.text += chunk.toString();
    }
    return push.call(this, chunk, encoding);
  };
}

function isWatchedResponse({ statusCode, headers }) {
  if (statusCode === null) return false;
  return statusCode >= 400 || headers['content-type']?.includes('json') === true;
}

function lookAtResponse({ statusCode, req, headers }, text, watch) {
  const body = parsed(text);
  if (statusCode >= 400 || hasError(body)) {
    watch.text(`${statusCode} of ${pathOf(req.path)}`, text);
    return;
  }
  addHeaders(textHeaders(req.getHeaders()), watch);
  addCookies(headers['set-cookie'] ?? [], watch);
  addFields(body, watch);
}

/** Without those that have several values. */
const textHeaders = (headers) =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => typeof value === 'string'));

const pathOf = (url) => new URL(url, 'http://localhost').pathname;

/** Shows the watch what clients of the management plane receive over a WebSocket. */
export function watchSocketClients({ prototype }, watch) {
  const { emit } = prototype;
  prototype.emit = function emitWatched(event, data, isBinary) {
    // A socket of a server has no URL; others lead to upstreams, which may answer anything.
    if (event === 'message' && isBinary === false && /\/api\/rpc\b/.test(this.url ?? ''))
      lookAtFrame(data.toString(), watch);
    return emit.apply(this, arguments);
  };
}

function lookAtFrame(text, watch) {
  const body = parsed(text);
  if (hasError(body)) watch.text('an error over a WebSocket', text);
  else addFields(body, watch);
}

const hasError = (body) =>
  [body].flat().some((one) => typeof one === 'object' && one !== null && Boolean(one.error));

function addHeaders(given, watch) {
  if (given === undefined) return;
  const headers = new Headers(given);
  watch.secret('bearer', /^bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1]);
  for (const name of KEY_HEADERS) watch.secret(name, headers.get(name));
  addCookies(headers.get('cookie')?.split(';') ?? [], watch);
}

/** `name=value`, with or without attributes. */
function addCookies(cookies, watch) {
  for (const cookie of cookies) watch.secret('cookie', /^[^=;]+=([^;]+)/.exec(cookie)?.[1]);
}

/** Values with spaces are texts, such as the tokens of a chat. */
function addSecret(name, value, watch) {
  if (typeof value === 'string' && !/\s/.test(value)) watch.secret(name, value);
}

function addFields(value, watch) {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, entry] of Object.entries(value)) {
    if (SECRET_FIELDS.has(name)) for (const one of [entry].flat()) addSecret(name, one, watch);
    if (typeof entry === 'object') addFields(entry, watch);
  }
}

function parsed(text) {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
