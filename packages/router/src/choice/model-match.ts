const LATEST = ':latest';

/** The listed id that serves the requested one: the same id, or `name:latest` for a bare `name`. */
export function matchModel(requested: string, listed: ReadonlySet<string>): string | undefined {
  if (listed.has(requested)) return requested;
  const latest = `${requested}${LATEST}`;
  return !requested.includes(':') && listed.has(latest) ? latest : undefined;
}
