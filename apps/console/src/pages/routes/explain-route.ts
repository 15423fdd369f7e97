import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

interface ExplainSearch {
  readonly model?: string;
  /** The id of an API key. */
  readonly key?: string;
}

export const explainRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/routes/explain',
  validateSearch: pageSearch<ExplainSearch>(
    { model: undefined, key: undefined },
    ({ model, key }) => ({
      ...(typeof model === 'string' && model !== '' ? { model } : {}),
      ...(typeof key === 'string' && key !== '' ? { key } : {}),
    }),
  ),
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./explain-page.tsx'), 'ExplainPage'),
});
