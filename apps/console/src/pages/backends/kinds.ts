import type { RpcResult } from '@model-gateway/contracts';
import type { Api } from '../../api/api.ts';

/** A kind of backend, and what the form asks for. */
export type BackendKind = RpcResult<'backends.kinds'>[number];

/** The kinds of backends; they stay as they are while the service runs. */
export const kindsQuery = (api: Api) => ({ ...api.query('backends.kinds'), staleTime: Infinity });

/** Whether several keys can be used in turn, and their header be named. */
export const takesKeys = ({ options }: BackendKind): boolean =>
  options.properties.api_keys !== undefined;

/** The APIs besides chat completions that it can be declared to speak. */
export const dialectsOf = ({ options }: BackendKind) =>
  options.properties.dialects?.items.enum ?? [];
