import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';
import { filterSearch, NO_FILTERS, type FilterSearch } from '../../spend/filter-search.ts';

/** Which statuses are shown. */
export const STATUSES = ['ok', 'error', 'cancelled'] as const;

interface RequestsSearch extends FilterSearch {
  readonly status?: (typeof STATUSES)[number] | number;
  /** Where the shown page begins; the newest requests without it. */
  readonly cursor?: string;
  /** The request whose story is open. */
  readonly request?: string;
}

const NOTHING = { ...NO_FILTERS, status: undefined, cursor: undefined, request: undefined };
const STATUS_MIN = 100;
const STATUS_MAX = 599;

export const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/requests',
  validateSearch: pageSearch<RequestsSearch>(NOTHING, (search) => {
    const { status, cursor, request } = search;
    const isNumber =
      typeof status === 'number' &&
      Number.isInteger(status) &&
      status >= STATUS_MIN &&
      status <= STATUS_MAX;
    const word = STATUSES.find((each) => each === status);
    const shown = word ?? (isNumber ? status : undefined);
    return {
      ...filterSearch(search),
      ...(shown === undefined ? {} : { status: shown }),
      ...(typeof cursor === 'string' && cursor !== '' ? { cursor } : {}),
      ...(typeof request === 'string' && request !== '' ? { request } : {}),
    };
  }),
  staticData: { usesRange: true },
  component: lazyPage(() => import('./requests-page.tsx'), 'RequestsPage'),
});
