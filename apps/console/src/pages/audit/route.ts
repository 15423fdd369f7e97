import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

interface AuditSearch {
  /** The beginning of the actions that are shown. */
  readonly action?: string;
  /** Only entries before this one. */
  readonly before?: number;
}

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: pageSearch<AuditSearch>(
    { action: undefined, before: undefined },
    ({ action, before }) => ({
      ...(typeof action === 'string' && action !== '' ? { action } : {}),
      ...(typeof before === 'number' && Number.isInteger(before) && before > 0 ? { before } : {}),
    }),
  ),
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
});
