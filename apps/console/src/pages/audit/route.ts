import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

interface AuditSearch {
  /** The beginning of the actions that are shown. */
  readonly action?: string;
  /** Only entries before this one. */
  readonly before?: number;
}

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: ({ action, before }: Readonly<Record<string, unknown>>): AuditSearch => ({
    ...(typeof action === 'string' && action !== '' ? { action } : {}),
    ...(typeof before === 'number' && Number.isInteger(before) && before > 0 ? { before } : {}),
  }),
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
});
