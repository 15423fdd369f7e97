import type { RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { count, duration, moment, usd } from '../output/format.ts';
import { table } from '../output/table.ts';
import { wholeNumber } from './arguments.ts';
import { addRequestFilters, filterOf, type FilterOptions } from './request-filters.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 200;

type Request = RpcResult<'requests.list'>['requests'][number];

interface RequestsOptions extends FilterOptions {
  readonly limit: number;
  readonly cursor?: string;
  readonly errors?: boolean;
}

export function addRequestsCommand(program: Command, run: Runner): void {
  const command = program
    .command('requests')
    .summary('list single requests')
    .description(
      'List requests, metered and failed ones, with their status and times, newest first.',
    )
    .option('--limit <rows>', 'how many', wholeNumber('--limit', 1, LIMIT_MAX), LIMIT_DEFAULT)
    .option('--cursor <cursor>', 'go on after an earlier list')
    .option('--errors', 'only those that ended with an error');
  addRequestFilters(command)
    .addHelpText(
      'after',
      '\nExamples:\n  gateway requests --errors\n  gateway requests --all --upstream cloud --json',
    )
    .action(run(listRequests));
}

async function listRequests(
  { service }: CommandContext,
  { limit, cursor, errors, ...filters }: RequestsOptions,
): Promise<Answer> {
  const listed = await service.call('requests.list', {
    limit,
    cursor,
    status: errors === true ? 'error' : undefined,
    ...filterOf(filters),
  });
  const { requests, next_cursor: next } = listed;
  return {
    json: listed,
    text: requests.length === 0 ? 'No requests.' : requestTable(requests),
    ...(next === null ? {} : { note: `There are more: --cursor ${next}` }),
  };
}

const time = (ms: number | null): string => (ms === null ? '-' : duration(ms));

const requestTable = (requests: readonly Request[]): string =>
  table(requests, [
    { title: 'TIME (UTC)', value: ({ created_at }) => moment(created_at) },
    { title: 'STATUS', isNumber: true, value: ({ status }) => String(status ?? '-') },
    { title: 'ERROR', value: ({ error_code }) => error_code ?? '-' },
    { title: 'MODEL', value: ({ model }) => model ?? '-' },
    { title: 'UPSTREAM', value: ({ upstream }) => upstream ?? '-' },
    { title: 'TOKENS', isNumber: true, value: ({ total_tokens }) => count(total_tokens) },
    { title: 'COST', isNumber: true, value: ({ cost }) => usd(cost) },
    { title: 'FIRST TOKEN', isNumber: true, value: ({ first_token_ms }) => time(first_token_ms) },
    { title: 'TOTAL', isNumber: true, value: ({ latency_ms }) => time(latency_ms) },
    { title: 'ID', value: ({ id }) => id },
  ]);
