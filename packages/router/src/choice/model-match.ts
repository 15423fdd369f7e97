const LATEST = ':latest';

/**
 * Finds the listed id that serves the requested one: the same id, or `name:latest` for a bare `name`. One matcher is for
 * many lists: the second id is a text that is hashed only once.
 */
export function modelMatcher(
  requested: string,
): (listed: ReadonlySet<string>) => string | undefined {
  const latest = requested.includes(':') ? requested : `${requested}${LATEST}`;
  return (listed) => {
    if (listed.has(requested)) return requested;
    return listed.has(latest) ? latest : undefined;
  };
}

/** The same for one list. */
export const matchModel = (requested: string, listed: ReadonlySet<string>): string | undefined =>
  modelMatcher(requested)(listed);
