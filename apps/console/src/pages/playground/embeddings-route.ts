import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

export const embeddingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground/embeddings',
  validateSearch: pageSearch<{ readonly model?: string }>({ model: undefined }, ({ model }) =>
    typeof model === 'string' && model !== '' ? { model } : {},
  ),
  component: lazyPage(() => import('./embeddings-page.tsx'), 'EmbeddingsPage'),
});
