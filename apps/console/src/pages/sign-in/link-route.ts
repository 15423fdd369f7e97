import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

/** Where a sign-in through the provider leads when a local account has the email of the person. */
export const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/link',
  component: lazyPage(() => import('./link-page.tsx'), 'LinkPage'),
});
