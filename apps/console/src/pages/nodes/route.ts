import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const nodesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/nodes',
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./nodes-page.tsx'), 'NodesPage'),
});
