import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

interface UsageSearch {
  readonly offset?: number;
  readonly project?: string;
}

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: ({ offset, project }: Readonly<Record<string, unknown>>): UsageSearch => ({
    ...(typeof offset === 'number' && offset > 0 ? { offset: Math.floor(offset) } : {}),
    ...(typeof project === 'string' && project !== '' ? { project } : {}),
  }),
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
});
