import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

/** Where the link to set a new password leads. */
export const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset',
  component: lazyPage(() => import('./reset-page.tsx'), 'ResetPage'),
});
