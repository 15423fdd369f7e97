import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const routesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/routes',
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./routes-page.tsx'), 'RoutesPage'),
});
