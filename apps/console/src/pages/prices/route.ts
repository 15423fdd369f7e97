import { createRoute } from '@tanstack/react-router';
import { shellRoute } from '../../frame/frame-routes.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pageSearch } from '../../frame/page-search.ts';

interface PricesSearch {
  /** The model whose price is being set. */
  readonly model?: string;
}

export const pricesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices',
  validateSearch: pageSearch<PricesSearch>({ model: undefined }, ({ model }) =>
    typeof model === 'string' && model !== '' ? { model } : {},
  ),
  staticData: { isForAdmins: true },
  component: lazyPage(() => import('./prices-page.tsx'), 'PricesPage'),
});
