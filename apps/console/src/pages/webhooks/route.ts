import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';

export const webhooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  component: lazyPage(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
});
