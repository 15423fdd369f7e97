import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const videoRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/video',
  component: lazyPage(() => import('./video-page.tsx'), 'VideoPage'),
});
