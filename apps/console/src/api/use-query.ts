import {
  useInfiniteQuery as useTanstackInfiniteQuery,
  useQuery as useTanstackQuery,
  useQueryClient,
  type QueryKey,
} from '@tanstack/react-query';

/** The last error of each query that was not answered since. */
const failures = new WeakMap<object, Error>();

/** What the cache of queries reports, so that an error stays known while its query is asked again. */
export const noteFailures = {
  onError: (error: Error, query: object): void => void failures.set(query, error),
  onSuccess: (_data: unknown, query: object): void => void failures.delete(query),
};

/**
 * As TanStack's, but a query that was never answered keeps its error while it is asked again. Otherwise it counts as new, and
 * the page shows its skeleton and its error in turn while the service is away.
 */
export const useQuery = ((options, client) =>
  useLastError(useTanstackQuery(options, client), options.queryKey)) as typeof useTanstackQuery;

/** As `useQuery`, for lists that are read in parts. */
export const useInfiniteQuery = ((options, client) =>
  useLastError(
    useTanstackInfiniteQuery(options, client),
    options.queryKey,
  )) as typeof useTanstackInfiniteQuery;

function useLastError<Result extends { readonly isPending: boolean }>(
  result: Result,
  queryKey: QueryKey,
): Result {
  const cache = useQueryClient().getQueryCache();
  if (!result.isPending) return result;
  const query = cache.find({ queryKey });
  const error = query === undefined ? undefined : failures.get(query);
  return error === undefined
    ? result
    : { ...result, status: 'error', error, isError: true, isPending: false, isLoading: false };
}
