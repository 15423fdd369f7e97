import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { filterSearch, type FilterSearch } from '../../spend/filter-search.ts';
import { DIMENSIONS, MEASURES, type Dimension, type Measure } from '../../spend/spend-series.ts';

interface UsageSearch extends FilterSearch {
  readonly by?: Dimension;
  readonly measure?: Measure;
}

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: (search: Readonly<Record<string, unknown>>): UsageSearch => {
    const by = DIMENSIONS.find((dimension) => dimension === search['by']);
    const measure = MEASURES.find((one) => one === search['measure']);
    return {
      ...filterSearch(search),
      ...(by === undefined ? {} : { by }),
      ...(measure === undefined ? {} : { measure }),
    };
  },
  staticData: { usesRange: true },
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
});
