import type { RpcInput, RpcResult } from '@model-gateway/contracts';
import type { Api } from '../api/api.ts';

type Answer = RpcResult<'usage.summary'>;

/** Sums as pages show them: `requests` are all that were asked, served or not, and `errors` are a part of them. */
export type Sums = Omit<Answer['total'], 'failed'>;
export type SpendGroup = Omit<Answer['groups'][number], 'failed'>;

export interface Summary {
  readonly groups: readonly SpendGroup[];
  readonly total: Sums;
}

/** Asks for the sums of a period. Every page asks here, so that all show the same numbers. */
export async function askSummary(
  api: Pick<Api, 'call'>,
  params: RpcInput<'usage.summary'>,
  { signal }: { readonly signal: AbortSignal },
): Promise<Summary> {
  const { groups, total } = await api.call('usage.summary', params, { signal });
  return { groups: groups.map(withAllRequests), total: withAllRequests(total) };
}

const withAllRequests = <Served extends Answer['total']>({
  failed,
  ...sums
}: Served): Omit<Served, 'failed'> => ({ ...sums, requests: sums.requests + failed });
