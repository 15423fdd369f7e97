import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

interface PlaygroundSearch {
  readonly model?: string;
  /** A second model that answers the same questions. */
  readonly beside?: string;
  /** The conversation on the server that is continued. */
  readonly conversation?: string;
}

const NAMES = ['model', 'beside', 'conversation'] as const;

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: (search: Readonly<Record<string, unknown>>): PlaygroundSearch => {
    const found: Partial<Record<(typeof NAMES)[number], string>> = {};
    for (const name of NAMES) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') found[name] = value;
    }
    return found;
  },
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});
