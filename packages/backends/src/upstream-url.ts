const SCHEMES = new Set(['http:', 'https:']);

/**
 * The prefix that an upstream's paths are appended to: a base without a path keeps the `/v1` convention, a base with one
 * is the full prefix. Undefined when the text is not an http or https URL.
 */
export function upstreamPrefix(base: string): URL | undefined {
  if (!URL.canParse(base)) return undefined;
  const url = new URL(base);
  if (!SCHEMES.has(url.protocol)) return undefined;
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path === '' ? '/v1' : path;
  url.search = '';
  url.hash = '';
  return url;
}
