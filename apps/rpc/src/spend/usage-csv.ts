import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Accounts } from '@model-gateway/accounts';
import { rpcMethods, ServiceError, type RpcResult } from '@model-gateway/contracts';
import { bearerOf, requestIdOf } from '@model-gateway/http';
import type { CallPlaces } from '../protocol/call-places.ts';
import { parseParams } from '../protocol/parse-params.ts';
import type { ClientOf } from '../transports/client-of.ts';
import { csvLine } from './csv.ts';
import type { SummarizeSpend } from './spend-summary.ts';

interface UsageCsvDependencies {
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly places: CallPlaces;
  readonly clientOf: ClientOf;
  readonly summarize: SummarizeSpend;
}

/** Written together, so that a large file takes few writes. */
const LINES_PER_WRITE = 500;

const COLUMNS = [
  'requests',
  'errors',
  'failed',
  'cancelled',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'total_tokens',
  'cost_usd',
  'points',
] as const;

/** `GET /api/usage.csv`: the groups of `usage.summary` as a file, for the same callers and with the same parameters. */
export function createUsageCsv({ accounts, places, clientOf, summarize }: UsageCsvDependencies) {
  async function summaryFor(bearer: string | undefined, query: URLSearchParams): Promise<Summary> {
    const authenticated = bearer === undefined ? undefined : await accounts.authenticate(bearer);
    if (authenticated === undefined)
      throw new ServiceError('authentication_required', 'an access token is required');
    const params = parseParams(rpcMethods['usage.summary'].params, paramsOf(query));
    return summarize(params, authenticated.user);
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requestIdOf(request, response);
    if (request.method !== 'GET') {
      response.setHeader('allow', 'GET');
      throw new ServiceError('method_not_allowed', 'use GET');
    }
    const bearer = bearerOf(request);
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const summary = await places.run(
      { method: 'usage.summary', credentials: { bearer, ...clientOf(request) } },
      () => summaryFor(bearer, searchParams),
    );
    response.writeHead(200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${fileName(summary)}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    await pipeline(Readable.from(linesOf(summary)), response).catch((error: unknown) => {
      // The client left.
      if (!response.destroyed) throw error;
    });
  };
}

/** Each parameter once; one that is repeated or empty counts as it was last given, or not at all. */
const paramsOf = (query: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...query].filter(([, value]) => value !== ''));

type Summary = RpcResult<'usage.summary'>;

function* linesOf({ group_by, groups, total }: Summary): Generator<string> {
  let text = csvLine([group_by, ...COLUMNS]);
  for (const [index, group] of groups.entries()) {
    text += csvLine([group.key, ...COLUMNS.map((column) => group[column])]);
    if (index % LINES_PER_WRITE !== LINES_PER_WRITE - 1) continue;
    yield text;
    text = '';
  }
  yield text + csvLine(['total', ...COLUMNS.map((column) => total[column])]);
}

/** With the first and the last day that the file is about; `to` itself is not included. */
function fileName({ from, to, group_by }: Summary): string {
  const last = new Date(Date.parse(to) - 1).toISOString();
  return `usage-by-${group_by}-${from.slice(0, 10)}-${last.slice(0, 10)}.csv`;
}
