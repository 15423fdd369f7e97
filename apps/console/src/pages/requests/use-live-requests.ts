import type { RpcInput } from '@model-gateway/contracts';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { watchRequests, type WatchState } from './watch-requests.ts';

interface LiveRequests {
  readonly isOn: boolean;
  readonly params: Pick<RpcInput<'requests.watch'>, 'scope' | 'group_id'>;
  readonly onChange: () => Promise<unknown>;
}

/** Asks for the list whenever there are new requests; undefined while that is switched off. */
export function useLiveRequests({ isOn, params, onChange }: LiveRequests): WatchState | undefined {
  const api = useApi();
  const [state, setState] = useState<WatchState>('connecting');
  const { scope, group_id: groupId } = params;
  useEffect(() => {
    if (!isOn) return undefined;
    const stopping = new AbortController();
    const { signal } = stopping;
    setState('connecting');
    void watchRequests(
      {
        watch: (asked) => api.call('requests.watch', asked, { signal }),
        subscribe: (id, end) => api.subscribe(id, end),
      },
      {
        params: {
          ...(scope === undefined ? {} : { scope }),
          ...(groupId === undefined ? {} : { group_id: groupId }),
        },
        signal,
        onChange,
        onState: (next) => {
          if (!signal.aborted) setState(next);
        },
      },
    );
    return () => stopping.abort();
  }, [api, isOn, scope, groupId, onChange]);
  return isOn ? state : undefined;
}
