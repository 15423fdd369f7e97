import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { RpcResult } from '@model-gateway/contracts';
import { useApi } from '../../api/use-api.ts';
import { withVideoEvent } from './video-progress.ts';

/** Each stream is a connection, of which a browser has few. */
const FOLLOWED_MAX = 2;

/** Follows the newest jobs that run, and updates the list with what their streams report. */
export function useVideoProgress(
  queryKey: readonly unknown[],
  runningIds: readonly string[],
): void {
  const api = useApi();
  const queries = useQueryClient();
  const followed = runningIds.slice(0, FOLLOWED_MAX).join(' ');
  const key = JSON.stringify(queryKey);
  useEffect(() => {
    const stopping = new AbortController();
    const list = JSON.parse(key) as readonly unknown[];
    const follow = async (id: string): Promise<void> => {
      for await (const event of api.subscribe(id, stopping.signal)) {
        const before = queries.getQueryData<RpcResult<'video.list'>>(list);
        const after = withVideoEvent(before, event);
        if (after === 'ended') {
          await queries.invalidateQueries({ queryKey: list });
          return;
        }
        if (after !== before) queries.setQueryData(list, after);
      }
    };
    // The list is asked for again now and then as well, so a lost stream loses nothing.
    for (const id of followed.split(' ').filter((one) => one !== ''))
      follow(id).catch(() => undefined);
    return () => stopping.abort();
  }, [api, queries, key, followed]);
}
