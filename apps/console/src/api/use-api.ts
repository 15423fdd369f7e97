import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { RpcInput, RpcMethodName, RpcResult } from '@model-gateway/contracts';
import type { RpcCallArguments } from '@model-gateway/client';
import { createContext, useContext, useState, useSyncExternalStore } from 'react';
import type { Api } from './api.ts';
import { sharedCall } from './shared-call.ts';
import type { SessionState, SessionUser } from './session.ts';

export const ApiContext = createContext<Api | undefined>(undefined);

export function useApi(): Api {
  const api = useContext(ApiContext);
  if (api === undefined) throw new Error('there is no API around this component');
  return api;
}

export function useSessionState(): SessionState {
  const { session } = useApi();
  return useSyncExternalStore(session.onChange, session.getState);
}

/** The account that is signed in. Pages within the frame always have one. */
export function useUser(): SessionUser {
  const state = useSessionState();
  return state.status === 'signed-in' ? state.user : NO_USER;
}

const NO_USER: SessionUser = { id: '', email: '', name: '', is_admin: false };

/** The name of a query: a method, or a path of the REST API. */
export type QueryName = RpcMethodName | '/v1/models';

/** A call that changes something; afterwards the queries of the given methods are asked again. */
export function useCall<Name extends RpcMethodName>(
  method: Name,
  { changes = [] }: { readonly changes?: readonly QueryName[] } = {},
) {
  const api = useApi();
  const queries = useQueryClient();
  const [share] = useState(sharedCall);
  return useMutation<RpcResult<Name>, Error, RpcInput<Name>>({
    mutationFn: (params) =>
      share(JSON.stringify(params), () =>
        api.call(method, ...([params] as unknown as RpcCallArguments<Name>)),
      ),
    onSuccess: async () => {
      await Promise.all(changes.map((name) => queries.invalidateQueries({ queryKey: [name] })));
    },
  });
}
