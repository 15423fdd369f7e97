import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
});
