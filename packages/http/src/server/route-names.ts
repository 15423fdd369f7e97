/** The name of a path in metrics and logs, from a small fixed set. */
export interface RouteName {
  readonly name: string;
  /** Whether orchestrators and monitors request it. */
  readonly isProbe: boolean;
}

const OTHER: RouteName = { name: 'other', isProbe: false };

/**
 * Finds the name of a path. The route `/v1/models/{id}` matches everything below `/v1/models/`.
 */
export function createRouteNames(
  routes: readonly string[],
  probes: Iterable<string>,
): (path: string) => RouteName {
  const exact = new Map<string, RouteName>();
  const below: { readonly prefix: string; readonly route: RouteName }[] = [];
  for (const name of routes) {
    const brace = name.indexOf('{');
    const route = { name, isProbe: false };
    if (brace === -1) exact.set(name, route);
    else below.push({ prefix: name.slice(0, brace), route });
  }
  for (const name of probes) exact.set(name, { name, isProbe: true });
  return (path) => {
    const known = exact.get(path);
    if (known !== undefined) return known;
    for (const { prefix, route } of below) if (path.startsWith(prefix)) return route;
    return OTHER;
  };
}
