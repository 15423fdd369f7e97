import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

interface ExplainSearch {
  readonly model?: string;
  /** The id of an API key. */
  readonly key?: string;
}

export const explainRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/routes/explain',
  validateSearch: ({ model, key }: Readonly<Record<string, unknown>>): ExplainSearch => ({
    ...(typeof model === 'string' && model !== '' ? { model } : {}),
    ...(typeof key === 'string' && key !== '' ? { key } : {}),
  }),
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./explain-page.tsx'), 'ExplainPage'),
});
