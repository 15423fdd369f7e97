import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const embeddingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground/embeddings',
  validateSearch: ({ model }: Readonly<Record<string, unknown>>): { readonly model?: string } =>
    typeof model === 'string' && model !== '' ? { model } : {},
  component: lazyRouteComponent(() => import('./embeddings-page.tsx'), 'EmbeddingsPage'),
});
