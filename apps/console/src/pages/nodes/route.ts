import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const nodesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/nodes',
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./nodes-page.tsx'), 'NodesPage'),
});
