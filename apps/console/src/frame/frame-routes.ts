import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import type { RouterContext } from '../router-context.ts';
import { pageSearch } from './page-search.ts';
import { frameSearch, type FrameSearch } from './time-range.ts';

const NO_RANGE = { range: undefined, from: undefined, to: undefined, paused: undefined };

export const rootRoute = createRootRouteWithContext<RouterContext>()();

/** Pages below it need a signed-in user; other users go to the sign-in page, and back from there. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  validateSearch: pageSearch<FrameSearch>(NO_RANGE, frameSearch),
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
  component: lazyPage(() => import('./shell.tsx'), 'Shell'),
});
