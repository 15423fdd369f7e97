import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const videoRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/video',
  component: lazyRouteComponent(() => import('./video-page.tsx'), 'VideoPage'),
});
