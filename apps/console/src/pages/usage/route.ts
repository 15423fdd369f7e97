import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';
import { filterSearch, NO_FILTERS, type FilterSearch } from '../../spend/filter-search.ts';
import { DIMENSIONS, MEASURES, type Dimension, type Measure } from '../../spend/spend-series.ts';

interface UsageSearch extends FilterSearch {
  readonly by?: Dimension;
  readonly measure?: Measure;
}

const NOTHING = { ...NO_FILTERS, by: undefined, measure: undefined };

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: pageSearch<UsageSearch>(NOTHING, (search) => {
    const by = DIMENSIONS.find((dimension) => dimension === search['by']);
    const measure = MEASURES.find((one) => one === search['measure']);
    return {
      ...filterSearch(search),
      ...(by === undefined ? {} : { by }),
      ...(measure === undefined ? {} : { measure }),
    };
  }),
  staticData: { usesRange: true },
  component: lazyPage(() => import('./usage-page.tsx'), 'UsagePage'),
});
