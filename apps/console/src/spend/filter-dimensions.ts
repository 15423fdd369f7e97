import type { FilterName } from './filter-search.ts';
import type { Dimension } from './spend-series.ts';

/** What occurs for a filter is found by this division of the requests. */
export const DIMENSION_OF: Readonly<Record<FilterName, Dimension>> = {
  model: 'model',
  upstream: 'upstream',
  key_id: 'key',
  project: 'project',
  user_id: 'user',
};
