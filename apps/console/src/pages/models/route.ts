import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const modelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models',
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./models-page.tsx'), 'ModelsPage'),
});
