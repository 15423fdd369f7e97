import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const backendsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/backends',
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./backends-page.tsx'), 'BackendsPage'),
});
