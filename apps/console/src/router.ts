import { createRoute, createRouter } from '@tanstack/react-router';
import { ErrorPage, NotFoundPage } from './frame/error-page.tsx';
import { rootRoute, shellRoute } from './frame/frame-routes.ts';
import { accountRoute } from './pages/account/route.ts';
import { groupsRoute } from './pages/groups/route.ts';
import { auditRoute } from './pages/audit/route.ts';
import { backendsRoute } from './pages/backends/route.ts';
import { indexRoute } from './pages/index-route.ts';
import { inviteRoute } from './pages/invite/route.ts';
import { keysRoute } from './pages/keys/route.ts';
import { overviewRoute } from './pages/overview/route.ts';
import { planRoute } from './pages/plan/route.ts';
import { embeddingsRoute } from './pages/playground/embeddings-route.ts';
import { playgroundRoute } from './pages/playground/route.ts';
import { realtimeRoute } from './pages/realtime/route.ts';
import { requestsRoute } from './pages/requests/route.ts';
import { resetRoute } from './pages/reset/route.ts';
import { modelsRoute } from './pages/models/route.ts';
import { nodesRoute } from './pages/nodes/route.ts';
import { peopleRoute } from './pages/people/route.ts';
import { pricesRoute } from './pages/prices/route.ts';
import { explainRoute } from './pages/routes/explain-route.ts';
import { routesRoute } from './pages/routes/route.ts';
import { settingsRoute } from './pages/settings/route.ts';
import { linkRoute } from './pages/sign-in/link-route.ts';
import { signInRoute } from './pages/sign-in/route.ts';
import { usageRoute } from './pages/usage/route.ts';
import { videoRoute } from './pages/video/route.ts';
import { webhooksRoute } from './pages/webhooks/route.ts';
import { welcomeRoute } from './pages/welcome/route.ts';
import type { RouterContext } from './router-context.ts';

/** The pages of admins. */
const adminRoutes = [
  peopleRoute,
  modelsRoute,
  backendsRoute,
  routesRoute,
  explainRoute,
  nodesRoute,
  videoRoute,
  pricesRoute,
  auditRoute,
  settingsRoute,
] as const;

/** Every other address, with the navigation from which a page can be chosen. */
const nowhereRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '$',
  component: NotFoundPage,
});

/** One line for each page; `shellRoute` has those with the navigation around them. */
const routes = rootRoute.addChildren([
  indexRoute,
  signInRoute,
  linkRoute,
  welcomeRoute,
  inviteRoute,
  resetRoute,
  shellRoute.addChildren([
    playgroundRoute,
    embeddingsRoute,
    realtimeRoute,
    keysRoute,
    usageRoute,
    planRoute,
    accountRoute,
    groupsRoute,
    overviewRoute,
    requestsRoute,
    webhooksRoute,
    ...adminRoutes,
    nowhereRoute,
  ]),
]);

export function createConsoleRouter(context: RouterContext) {
  return createRouter({
    routeTree: routes,
    basepath: '/console',
    context,
    defaultPreload: 'intent',
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: false,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
  interface StaticDataRouteOption {
    /** Whether the page shows data of the time range, so that the top bar has it. */
    readonly usesRange?: boolean;
    /** Whether only admins may see the page; other users see that they need an admin. */
    readonly isForAdmins?: boolean;
  }
}
