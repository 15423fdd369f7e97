import type { QueryClient } from '@tanstack/react-query';
import type { Api } from './api/api.ts';

/** What the guards of the pages need. */
export interface RouterContext {
  readonly api: Api;
  readonly queries: QueryClient;
}
