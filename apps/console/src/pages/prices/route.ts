import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const pricesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices',
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./prices-page.tsx'), 'PricesPage'),
});
