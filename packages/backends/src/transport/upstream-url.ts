import { ServiceError } from '@model-gateway/contracts';

const BRIDGE_SCHEME = 'bridge:';

interface UrlKind {
  readonly name: string;
  readonly schemes: readonly string[];
}

/** How the URL of a registration may begin. */
export const urlPrefixes = ({ schemes }: UrlKind): string[] =>
  [...schemes, BRIDGE_SCHEME].map((scheme) => `${scheme}//`);

/** The URL of a registration, if it is valid for this kind of backend. */
export function backendUrl(kind: UrlKind, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const prefixes = urlPrefixes(kind);
  if (url === undefined || !prefixes.includes(`${url.protocol}//`)) {
    throw new ServiceError(
      'bad_url',
      `the URL of a backend of the kind '${kind.name}' must start with one of ${prefixes.join(', ')}`,
    );
  }
  if (url.hostname === '') {
    throw new ServiceError('bad_url', 'the URL of the backend names no host');
  }
  // URLs appear in listings and logs, so they must not contain secrets.
  if (url.username !== '' || url.password !== '') {
    throw new ServiceError(
      'bad_url',
      'the URL of the backend must not carry credentials; use api_key',
    );
  }
  return url;
}

/** Whether a registration goes through the bridge agent. */
export function isBridgeUrl(url: URL): boolean {
  return url.protocol === BRIDGE_SCHEME;
}

/** Origin and path of a URL, without a slash at the end: the base for the paths of an upstream's API. */
export function plainBase(url: URL): string {
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/**
 * The prefix that an upstream's paths are appended to: a base without a path keeps the `/v1` convention, a base with one
 * is the full prefix.
 */
export function upstreamPrefix(base: URL): URL {
  const path = base.pathname.replace(/\/+$/, '');
  return new URL(`${base.origin}${path === '' ? '/v1' : path}`);
}
