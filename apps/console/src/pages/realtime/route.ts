import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

export const realtimeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground/realtime',
  validateSearch: pageSearch<{ readonly model?: string }>({ model: undefined }, ({ model }) =>
    typeof model === 'string' && model !== '' ? { model } : {},
  ),
  component: lazyPage(() => import('./realtime-page.tsx'), 'RealtimePage'),
});
