import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  redirect,
} from '@tanstack/react-router';
import type { Api } from './api/api.ts';
import { ErrorPage, NotFoundPage } from './frame/error-page.tsx';
import { lazyPage } from './frame/lazy-page.ts';
import { pageSearch, textSearch, wordOf } from './frame/page-search.ts';
import { frameSearch, type FrameSearch } from './frame/time-range.ts';
import { requestStatus, type RequestStatus } from './pages/requests/request-status.ts';
import { returnPath } from './pages/sign-in/return-path.ts';
import { storedStep } from './pages/welcome/set-up.ts';
import { filterSearch, NO_FILTERS, type FilterSearch } from './spend/filter-search.ts';
import { DIMENSIONS, MEASURES, type Dimension, type Measure } from './spend/spend-series.ts';

/** What the guards of the pages need. */
interface RouterContext {
  readonly api: Api;
  readonly queries: QueryClient;
}

const FOR_ADMINS = { isForAdmins: true } as const;
const WITH_RANGE = { usesRange: true } as const;

const root = createRootRouteWithContext<RouterContext>()();

/** Pages below it have the navigation around them and need a signed-in user; others go to the sign-in page, and back from there. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  validateSearch: pageSearch<FrameSearch>(
    { range: undefined, from: undefined, to: undefined, paused: undefined },
    frameSearch,
  ),
  beforeLoad: async ({ context, location }) => {
    const { session } = context.api;
    const state = await session.restore();
    if (state.status === 'signed-in') return;
    throw redirect({
      to: '/sign-in',
      search: {
        return_to: location.href,
        ...(state.status === 'signed-out' && state.hasEnded ? { expired: true } : {}),
      },
    });
  },
  component: lazyPage(() => import('./frame/shell.tsx'), 'Shell'),
});

const inRoot = { getParentRoute: () => root };
const inShell = { getParentRoute: () => shell };

/** `/console/`: a new installation is set up first, and a setup that was left goes on. */
const index = createRoute({
  ...inRoot,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { session } = context.api;
    const { status } = await session.restore();
    if (status === 'signed-in')
      throw redirect({ to: storedStep() === undefined ? '/overview' : '/welcome' });
    const { is_new: isNew } = await session.options();
    throw redirect({ to: isNew ? '/welcome' : '/sign-in' });
  },
});

interface SignInSearch {
  /** The page of the console to go to afterwards. */
  readonly return_to?: string;
  readonly expired?: boolean;
}

const signIn = createRoute({
  ...inRoot,
  path: '/sign-in',
  validateSearch: pageSearch<SignInSearch>(
    { return_to: undefined, expired: undefined },
    (search) => {
      const returnTo = returnPath(search['return_to']);
      return {
        ...(returnTo === undefined ? {} : { return_to: returnTo }),
        ...(search['expired'] === true ? { expired: true } : {}),
      };
    },
  ),
  beforeLoad: async ({ context, search }) => {
    const { session } = context.api;
    const { status } = await session.restore();
    if (status === 'signed-in') throw redirect({ href: search.return_to ?? '/', replace: true });
    // Without an answer the page itself says what is wrong.
    const options = await session.options().catch(() => undefined);
    if (options?.is_new === true) throw redirect({ to: '/welcome', replace: true });
  },
  component: lazyPage(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** Where a sign-in through the provider leads when a local account has the email of the person. */
const link = createRoute({
  ...inRoot,
  path: '/sign-in/link',
  component: lazyPage(() => import('./pages/sign-in/link-page.tsx'), 'LinkPage'),
});

/** Setting up a new installation. Later only people who are signed in can come back to it. */
const welcome = createRoute({
  ...inRoot,
  path: '/welcome',
  beforeLoad: async ({ context }) => {
    const { session } = context.api;
    const { status } = await session.restore();
    if (status === 'signed-in') return;
    const { is_new: isNew } = await session.options();
    if (!isNew) throw redirect({ to: '/sign-in', search: { return_to: '/welcome' } });
  },
  component: lazyPage(() => import('./pages/welcome/welcome-page.tsx'), 'WelcomePage'),
});

/** Outside of the frame, because the sign-in page would keep the token in its address. */
const invite = createRoute({
  ...inRoot,
  path: '/invite',
  beforeLoad: async ({ context }) => {
    await context.api.session.restore();
  },
  component: lazyPage(() => import('./pages/invite/invite-page.tsx'), 'InvitePage'),
});

/** Where the link to set a new password leads. */
const reset = createRoute({
  ...inRoot,
  path: '/reset',
  component: lazyPage(() => import('./pages/reset/reset-page.tsx'), 'ResetPage'),
});

/** All components of the console, for those who build it. */
const design = createRoute({
  ...inRoot,
  path: '/design',
  component: lazyPage(() => import('./pages/design/design-page.tsx'), 'DesignPage'),
});

interface OverviewSearch extends FilterSearch {
  readonly by?: Dimension;
}

const overview = createRoute({
  ...inShell,
  path: '/overview',
  validateSearch: pageSearch<OverviewSearch>({ ...NO_FILTERS, by: undefined }, (search) => {
    const by = wordOf(DIMENSIONS, search['by']);
    return { ...filterSearch(search), ...(by === undefined ? {} : { by }) };
  }),
  staticData: WITH_RANGE,
  component: lazyPage(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
});

const playground = createRoute({
  ...inShell,
  path: '/playground',
  // A second model may answer the same questions; a conversation on the server may be continued.
  validateSearch: textSearch('model', 'beside', 'conversation'),
  component: lazyPage(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
});

const embeddings = createRoute({
  ...inShell,
  path: '/playground/embeddings',
  validateSearch: textSearch('model'),
  component: lazyPage(() => import('./pages/playground/embeddings-page.tsx'), 'EmbeddingsPage'),
});

const realtime = createRoute({
  ...inShell,
  path: '/playground/realtime',
  validateSearch: textSearch('model'),
  component: lazyPage(() => import('./pages/realtime/realtime-page.tsx'), 'RealtimePage'),
});

const video = createRoute({
  ...inShell,
  path: '/video',
  component: lazyPage(() => import('./pages/video/video-page.tsx'), 'VideoPage'),
});

const keys = createRoute({
  ...inShell,
  path: '/keys',
  validateSearch: textSearch('find'),
  component: lazyPage(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
});

interface UsageSearch extends FilterSearch {
  readonly by?: Dimension;
  readonly measure?: Measure;
}

const usage = createRoute({
  ...inShell,
  path: '/usage',
  validateSearch: pageSearch<UsageSearch>(
    { ...NO_FILTERS, by: undefined, measure: undefined },
    (search) => {
      const by = wordOf(DIMENSIONS, search['by']);
      const measure = wordOf(MEASURES, search['measure']);
      return {
        ...filterSearch(search),
        ...(by === undefined ? {} : { by }),
        ...(measure === undefined ? {} : { measure }),
      };
    },
  ),
  staticData: WITH_RANGE,
  component: lazyPage(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
});

const plan = createRoute({
  ...inShell,
  path: '/plan',
  component: lazyPage(() => import('./pages/plan/plan-page.tsx'), 'PlanPage'),
});

const account = createRoute({
  ...inShell,
  path: '/account',
  component: lazyPage(() => import('./pages/account/account-page.tsx'), 'AccountPage'),
});

const models = createRoute({
  ...inShell,
  path: '/models',
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/models/models-page.tsx'), 'ModelsPage'),
});

const backends = createRoute({
  ...inShell,
  path: '/backends',
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/backends/backends-page.tsx'), 'BackendsPage'),
});

const routes = createRoute({
  ...inShell,
  path: '/routes',
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/routes/routes-page.tsx'), 'RoutesPage'),
});

const explain = createRoute({
  ...inShell,
  path: '/routes/explain',
  // `key` is the id of an API key.
  validateSearch: textSearch('model', 'key'),
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/routes/explain-page.tsx'), 'ExplainPage'),
});

const nodes = createRoute({
  ...inShell,
  path: '/nodes',
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/nodes/nodes-page.tsx'), 'NodesPage'),
});

interface RequestsSearch extends FilterSearch {
  readonly status?: RequestStatus;
  /** Where the shown page begins; the newest requests without it. */
  readonly cursor?: string;
  /** The request whose story is open. */
  readonly request?: string;
}

const requests = createRoute({
  ...inShell,
  path: '/requests',
  validateSearch: pageSearch<RequestsSearch>(
    { ...NO_FILTERS, status: undefined, cursor: undefined, request: undefined },
    (search) => {
      const status = requestStatus(search['status']);
      return {
        ...filterSearch(search),
        ...textSearch('cursor', 'request')(search),
        ...(status === undefined ? {} : { status }),
      };
    },
  ),
  staticData: WITH_RANGE,
  component: lazyPage(() => import('./pages/requests/requests-page.tsx'), 'RequestsPage'),
});

interface AuditSearch {
  /** The beginning of the actions that are shown. */
  readonly action?: string;
  /** Only entries before this one. */
  readonly before?: number;
}

const audit = createRoute({
  ...inShell,
  path: '/audit',
  validateSearch: pageSearch<AuditSearch>({ action: undefined, before: undefined }, (search) => {
    const { before } = search;
    return {
      ...textSearch('action')(search),
      ...(typeof before === 'number' && Number.isInteger(before) && before > 0 ? { before } : {}),
    };
  }),
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
});

const webhooks = createRoute({
  ...inShell,
  path: '/webhooks',
  component: lazyPage(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});

const people = createRoute({
  ...inShell,
  path: '/people',
  validateSearch: textSearch('find'),
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/people/people-page.tsx'), 'PeoplePage'),
});

const groups = createRoute({
  ...inShell,
  path: '/groups',
  validateSearch: textSearch('group'),
  component: lazyPage(() => import('./pages/groups/groups-page.tsx'), 'GroupsPage'),
});

const prices = createRoute({
  ...inShell,
  path: '/prices',
  // The model whose price is being set.
  validateSearch: textSearch('model'),
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/prices/prices-page.tsx'), 'PricesPage'),
});

const settings = createRoute({
  ...inShell,
  path: '/settings',
  validateSearch: textSearch('find'),
  staticData: FOR_ADMINS,
  component: lazyPage(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
});

/** Every other address, with the navigation from which a page can be chosen. */
const nowhere = createRoute({ ...inShell, path: '$', component: NotFoundPage });

const outside = [index, signIn, link, welcome, invite, reset, design] as const;
const build = [playground, embeddings, realtime, video, keys, usage, plan, account] as const;
const serve = [models, backends, routes, explain, nodes] as const;
const watch = [overview, requests, audit, webhooks] as const;
const manage = [people, groups, prices, settings] as const;

const tree = root.addChildren([
  ...outside,
  shell.addChildren([...build, ...serve, ...watch, ...manage, nowhere]),
]);

export function createConsoleRouter(context: RouterContext) {
  return createRouter({
    routeTree: tree,
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
