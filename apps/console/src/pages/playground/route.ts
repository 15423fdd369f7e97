import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

interface PlaygroundSearch {
  readonly model?: string;
  /** A second model that answers the same questions. */
  readonly beside?: string;
  /** The conversation on the server that is continued. */
  readonly conversation?: string;
}

const NAMES = ['model', 'beside', 'conversation'] as const;
const NOTHING = { model: undefined, beside: undefined, conversation: undefined };

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: pageSearch<PlaygroundSearch>(NOTHING, (search) => {
    const found: Partial<Record<(typeof NAMES)[number], string>> = {};
    for (const name of NAMES) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') found[name] = value;
    }
    return found;
  }),
  component: lazyPage(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});
