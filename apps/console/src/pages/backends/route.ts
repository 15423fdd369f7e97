import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const backendsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/backends',
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./backends-page.tsx'), 'BackendsPage'),
});
