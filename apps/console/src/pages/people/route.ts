import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  validateSearch: ({ find }: Readonly<Record<string, unknown>>): { readonly find?: string } =>
    typeof find === 'string' && find !== '' ? { find } : {},
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
});
