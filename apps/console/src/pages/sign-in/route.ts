import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../frame/frame-routes.ts';
import { returnPath } from './return-path.ts';

interface SignInSearch {
  /** The page of the console to go to afterwards. */
  readonly return_to?: string;
  readonly expired?: boolean;
}

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Readonly<Record<string, unknown>>): SignInSearch => {
    const returnTo = returnPath(search['return_to']);
    return {
      ...(returnTo === undefined ? {} : { return_to: returnTo }),
      ...(search['expired'] === true ? { expired: true } : {}),
    };
  },
  beforeLoad: async ({ context, search }) => {
    const { status } = await context.api.session.restore();
    if (status === 'signed-in') throw redirect({ href: search.return_to ?? '/', replace: true });
  },
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
