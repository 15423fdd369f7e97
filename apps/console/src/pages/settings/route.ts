import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

export const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  validateSearch: pageSearch<{ readonly find?: string }>({ find: undefined }, ({ find }) =>
    typeof find === 'string' && find !== '' ? { find } : {},
  ),
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./settings-page.tsx'), 'SettingsPage'),
});
