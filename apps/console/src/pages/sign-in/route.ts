import { createRoute, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';
import { returnPath } from './return-path.ts';

interface SignInSearch {
  /** The page of the console to go to afterwards. */
  readonly return_to?: string;
  readonly expired?: boolean;
}

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: pageSearch<SignInSearch>(
    { return_to: undefined, expired: undefined },
    (search) => {
      const returnTo = returnPath(search['return_to']);
      return {
        ...(returnTo === undefined ? {} : { return_to: returnTo }),
        ...(search['expired'] === true ? { expired: true } : {}),
      };
    },
  ),
  beforeLoad: async ({ context, search }) => {
    const { session } = context.api;
    const { status } = await session.restore();
    if (status === 'signed-in') throw redirect({ href: search.return_to ?? '/', replace: true });
    // Without an answer the page itself says what is wrong.
    const options = await session.options().catch(() => undefined);
    if (options?.is_new === true) throw redirect({ to: '/welcome', replace: true });
  },
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
