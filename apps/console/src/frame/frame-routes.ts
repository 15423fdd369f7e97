import {
  createRootRouteWithContext,
  createRoute,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { RouterContext } from '../router-context.ts';
import { frameSearch } from './time-range.ts';

export const rootRoute = createRootRouteWithContext<RouterContext>()();

/** Pages below it need a signed-in user; other users go to the sign-in page, and back from there. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  validateSearch: frameSearch,
  beforeLoad: async ({ context, location }) => {
    const { session } = context.api;
    const state = await session.restore();
    if (state.status === 'signed-in') return;
    throw redirect({
      to: '/sign-in',
      search: {
        return_to: location.href,
        ...(state.status === 'signed-out' && state.hasEnded ? { expired: true } : {}),
      },
    });
  },
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
});
