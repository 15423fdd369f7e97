import { Router } from 'express';

/** A route as it is mounted, in the form of a declaration. */
export interface MountedRoute {
  readonly method: string;
  readonly path: string;
}

/** Records the routes of every Express router that is built until it is read. */
export interface MountRecorder {
  /** The routes below a router that no other router uses. */
  read(): readonly MountedRoute[];
  restore(): void;
}

interface Place {
  readonly parent: unknown;
  readonly path: string;
}

/** The form of Express; its types do not describe it. */
interface RouterPrototype {
  use: (...handlers: unknown[]) => unknown;
  route: (path: unknown) => { readonly methods: Readonly<Record<string, boolean>> };
}

// A router of Express does not keep the paths under which it is mounted, so they are noted when they are given.
export function recordMounts(): MountRecorder {
  const prototype = (Router as unknown as { readonly prototype: RouterPrototype }).prototype;
  const { use, route } = prototype;
  const places = new Map<unknown, Place>();
  const routes: { readonly place: Place; readonly methods: Readonly<Record<string, boolean>> }[] =
    [];
  prototype.use = function recordUse(this: unknown, ...handlers: unknown[]): unknown {
    const [first] = handlers;
    const path = typeof first === 'function' ? '' : textOf(first);
    for (const handler of handlers) {
      if (typeof handler === 'function') places.set(handler, { parent: this, path });
    }
    return use.apply(this, handlers);
  };
  prototype.route = function recordRoute(this: unknown, path: unknown) {
    const made = route.call(this, path);
    routes.push({ place: { parent: this, path: textOf(path) }, methods: made.methods });
    return made;
  };

  function fullPath({ parent, path }: Place): string {
    const own = path === '/' ? '' : path;
    const above = places.get(parent);
    return above === undefined ? own : fullPath(above) + own;
  }

  return {
    read: () =>
      routes.flatMap(({ place, methods }) => {
        const path = (fullPath(place) || '/').replaceAll(/[:*](\w+)/g, '{$1}');
        return Object.keys(methods)
          .filter((method) => method !== '_all')
          .map((method) => ({ method, path }));
      }),
    restore() {
      Object.assign(prototype, { use, route });
    },
  };
}

/** A path that is no text is in no declaration, and is found by its text. */
const textOf = (path: unknown): string => (typeof path === 'string' ? path : String(path));
