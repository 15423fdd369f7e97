import { ToolError } from '../errors.ts';

interface UrlPolicy {
  readonly allowFile: boolean;
  readonly allowedOrigins: readonly string[];
}

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
// A host with a port looks like a scheme: `localhost:3000`.
const HOST_AND_PORT = /^[^/?#\s]+:\d{1,5}(?=$|[/?#])/;
// These are schemes even if digits follow: `javascript:1`.
const NEVER_HOSTS = ['javascript', 'view-source', 'devtools'];
// Without a host. An address that begins with two slashes has one.
const RELATIVE = /^(?:[.?#\\]|\/(?!\/))/;
const LOCAL_HOST =
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|[^./:?#]+)(?=$|[:/?#])/i;

/** Completes the URL of a caller; fails if the policy does not allow it. */
export function checkUrl(text: string, policy: UrlPolicy): string {
  const given = text.trim();
  const start = SCHEME.exec(given)?.[1]?.toLowerCase() ?? '';
  const isHost = start === '' || (HOST_AND_PORT.test(given) && !NEVER_HOSTS.includes(start));
  const scheme = isHost ? undefined : start;
  if (given === '' || RELATIVE.test(given)) throw invalidUrl(text);
  if (scheme === undefined) return checkOrigin(withScheme(given), policy);
  if (scheme === 'about') {
    if (/^about:blank([?#]|$)/i.test(given)) return given;
    throw blocked(given, scheme);
  }
  if (scheme === 'data' || scheme === 'blob') return given;
  if (scheme === 'http' || scheme === 'https') return checkOrigin(given, policy);
  if (scheme === 'file' && policy.allowFile) return given;
  throw blocked(given, scheme);
}

/** The same for the start page, with an error that names the setting. */
export function checkStartUrl(text: string, policy: UrlPolicy): string {
  try {
    return checkUrl(text, policy);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new ToolError(error.code, `BROWSER_URL cannot be the first page: ${error.message}`, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      details: { ...error.details, variable: 'BROWSER_URL' },
    });
  }
}

/** Uses http for local hosts and https for all others. */
function withScheme(given: string): string {
  const rest = given.startsWith('//') ? given.slice(2) : given;
  return `${LOCAL_HOST.test(rest) ? 'http' : 'https'}://${rest}`;
}

function checkOrigin(given: string, { allowedOrigins }: UrlPolicy): string {
  if (!URL.canParse(given)) throw invalidUrl(given);
  const { href, origin } = new URL(given);
  if (allowedOrigins.length === 0 || allowedOrigins.includes(origin)) return href;
  throw new ToolError('URL_BLOCKED', `${origin} is not among the allowed origins.`, {
    hint: `Allowed are ${allowedOrigins.join(', ')}; BROWSER_ALLOWED_ORIGINS decides.`,
    details: { url: given },
  });
}

function invalidUrl(text: string): ToolError {
  return new ToolError('INVALID_URL', `${JSON.stringify(text)} is not a URL.`, {
    hint: 'Use a URL such as https://example.com/ or localhost:3000.',
    details: { url: text },
  });
}

function blocked(url: string, scheme: string): ToolError {
  const hint =
    scheme === 'file'
      ? 'Set BROWSER_ALLOW_FILE=1 to open files, or serve them over http.'
      : 'Use an http:, https:, about:blank, data: or blob: URL.';
  return new ToolError('URL_BLOCKED', `${scheme}: URLs are not allowed (${url}).`, {
    hint,
    details: { url, scheme },
  });
}
