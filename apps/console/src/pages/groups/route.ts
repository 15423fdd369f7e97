import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

export const groupsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/groups',
  validateSearch: pageSearch<{ readonly group?: string }>({ group: undefined }, ({ group }) =>
    typeof group === 'string' && group !== '' ? { group } : {},
  ),
  component: lazyPage(() => import('./groups-page.tsx'), 'GroupsPage'),
});
