const LATEST = ':latest';

/** The listed id that serves the requested one: the same id, or `name:latest` for a bare `name`. */
export function matchModel(requested: string, listed: readonly string[]): string | undefined {
  if (listed.includes(requested)) return requested;
  const latest = `${requested}${LATEST}`;
  return !requested.includes(':') && listed.includes(latest) ? latest : undefined;
}
