import { createRoute, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

/** Setting up a new installation. Later only people who are signed in can come back to it. */
export const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  beforeLoad: async ({ context }) => {
    const { session } = context.api;
    const { status } = await session.restore();
    if (status === 'signed-in') return;
    const { is_new: isNew } = await session.options();
    if (!isNew) throw redirect({ to: '/sign-in', search: { return_to: '/welcome' } });
  },
  component: lazyPage(() => import('./welcome-page.tsx'), 'WelcomePage'),
});
