import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const groupsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/groups',
  validateSearch: ({ group }: Readonly<Record<string, unknown>>): { readonly group?: string } =>
    typeof group === 'string' && group !== '' ? { group } : {},
  component: lazyRouteComponent(() => import('./groups-page.tsx'), 'GroupsPage'),
});
