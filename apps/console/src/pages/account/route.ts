import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  component: lazyPage(() => import('./account-page.tsx'), 'AccountPage'),
});
