import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: pageSearch<{ readonly find?: string }>({ find: undefined }, ({ find }) =>
    typeof find === 'string' && find !== '' ? { find } : {},
  ),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
});
