import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { filterSearch, type FilterSearch } from '../../spend/filter-search.ts';
import { DIMENSIONS, type Dimension } from '../../spend/spend-series.ts';

interface OverviewSearch extends FilterSearch {
  readonly by?: Dimension;
}

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/overview',
  validateSearch: (search: Readonly<Record<string, unknown>>): OverviewSearch => {
    const by = DIMENSIONS.find((dimension) => dimension === search['by']);
    return { ...filterSearch(search), ...(by === undefined ? {} : { by }) };
  },
  staticData: { usesRange: true },
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});
