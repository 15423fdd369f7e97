import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const planRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/plan',
  component: lazyRouteComponent(() => import('./plan-page.tsx'), 'PlanPage'),
});
