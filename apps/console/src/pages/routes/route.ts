import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const routesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/routes',
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./routes-page.tsx'), 'RoutesPage'),
});
