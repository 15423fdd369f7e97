import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../frame/frame-routes.ts';

/** Outside of the frame, because the sign-in page would keep the token in its address. */
export const inviteRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invite',
  beforeLoad: async ({ context }) => {
    await context.api.session.restore();
  },
  component: lazyRouteComponent(() => import('./invite-page.tsx'), 'InvitePage'),
});
