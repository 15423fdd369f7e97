import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';
import { filterSearch, NO_FILTERS, type FilterSearch } from '../../spend/filter-search.ts';
import { DIMENSIONS, type Dimension } from '../../spend/spend-series.ts';

interface OverviewSearch extends FilterSearch {
  readonly by?: Dimension;
}

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/overview',
  validateSearch: pageSearch<OverviewSearch>({ ...NO_FILTERS, by: undefined }, (search) => {
    const by = DIMENSIONS.find((dimension) => dimension === search['by']);
    return { ...filterSearch(search), ...(by === undefined ? {} : { by }) };
  }),
  staticData: { usesRange: true },
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});
