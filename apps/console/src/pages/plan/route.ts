import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const planRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/plan',
  component: lazyPage(() => import('./plan-page.tsx'), 'PlanPage'),
});
