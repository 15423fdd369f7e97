import { createRoute, redirect } from '@tanstack/react-router';
import { rootRoute } from '../frame/frame-routes.ts';

/** `/console/`: a new installation is set up first. */
export const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { session } = context.api;
    const { status } = await session.restore();
    if (status === 'signed-in') throw redirect({ to: '/playground' });
    const { is_new: isNew } = await session.options();
    throw redirect({ to: isNew ? '/welcome' : '/sign-in' });
  },
});
