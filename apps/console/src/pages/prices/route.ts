import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const pricesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices',
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./prices-page.tsx'), 'PricesPage'),
});
