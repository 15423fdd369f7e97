import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: ({ model }: Readonly<Record<string, unknown>>): { readonly model?: string } =>
    typeof model === 'string' && model !== '' ? { model } : {},
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});
