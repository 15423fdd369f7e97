import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const modelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models',
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./models-page.tsx'), 'ModelsPage'),
});
