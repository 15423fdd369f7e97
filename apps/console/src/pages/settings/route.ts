import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';

export const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  validateSearch: ({ find }: Readonly<Record<string, unknown>>): { readonly find?: string } =>
    typeof find === 'string' && find !== '' ? { find } : {},
  staticData: { isForAdmins: true },
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});
