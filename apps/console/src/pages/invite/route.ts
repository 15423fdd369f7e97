import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

/** Outside of the frame, because the sign-in page would keep the token in its address. */
export const inviteRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invite',
  beforeLoad: async ({ context }) => {
    await context.api.session.restore();
  },
  component: lazyPage(() => import('./invite-page.tsx'), 'InvitePage'),
});
