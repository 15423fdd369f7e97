import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const realtimeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground/realtime',
  validateSearch: ({ model }: Readonly<Record<string, unknown>>): { readonly model?: string } =>
    typeof model === 'string' && model !== '' ? { model } : {},
  component: lazyRouteComponent(() => import('./realtime-page.tsx'), 'RealtimePage'),
});
