import { createRoute, redirect } from '@tanstack/react-router';
import { rootRoute } from '../frame/frame-routes.ts';
import { storedStep } from './welcome/set-up.ts';

/** `/console/`: a new installation is set up first, and a setup that was left goes on. */
export const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { session } = context.api;
    const { status } = await session.restore();
    if (status === 'signed-in')
      throw redirect({ to: storedStep() === undefined ? '/playground' : '/welcome' });
    const { is_new: isNew } = await session.options();
    throw redirect({ to: isNew ? '/welcome' : '/sign-in' });
  },
});
