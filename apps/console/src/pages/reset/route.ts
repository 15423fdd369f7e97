import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../frame/frame-routes.ts';

/** Where the link to set a new password leads. */
export const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset',
  component: lazyRouteComponent(() => import('./reset-page.tsx'), 'ResetPage'),
});
