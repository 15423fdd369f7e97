import type { RpcResult } from '@model-gateway/contracts';
import { Option, type Command } from 'commander';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { count, moment, requests, usd } from '../output/format.ts';
import { table } from '../output/table.ts';
import { addRequestFilters, filterOf, type FilterOptions } from './request-filters.ts';

type Summary = RpcResult<'usage.summary'>;

const GROUPINGS = ['day', 'hour', 'model', 'upstream', 'key', 'project', 'group', 'user'] as const;

interface SpendOptions extends FilterOptions {
  readonly by: Summary['group_by'];
}

export function addSpendCommand(program: Command, run: Runner): void {
  const command = program
    .command('spend')
    .summary('sum up what was spent')
    .description('Sum up what was spent in a period, by default in the last 30 days.')
    .addOption(
      new Option('--by <dimension>', 'what it is divided by').choices(GROUPINGS).default('day'),
    );
  addRequestFilters(command)
    .addHelpText(
      'after',
      '\nExamples:\n  gateway spend --by model\n  gateway spend --by user --all --from 2026-11-01 --json',
    )
    .action(run(showSpend));
}

async function showSpend({ service }: CommandContext, options: SpendOptions): Promise<Answer> {
  const { by, ...filters } = options;
  const summary = await service.call('usage.summary', { group_by: by, ...filterOf(filters) });
  const { groups, total } = summary;
  const period = `${moment(summary.from)} to ${moment(summary.to)} (UTC)`;
  const sum = `${requests(asked(total))}, ${count(total.errors)} ${total.errors === 1 ? 'error' : 'errors'}, ${count(total.cancelled)} stopped, ${count(total.total_tokens)} tokens, ${usd(total.cost_usd)}.`;
  return {
    json: summary,
    text:
      groups.length === 0
        ? `Nothing was spent, ${period}.`
        : `${spendTable(summary)}\n\n${period}: ${sum}`,
  };
}

/** All requests, served or not. */
const asked = ({ requests: served, failed }: Summary['total']): number => served + failed;

const spendTable = ({ group_by, groups }: Summary): string =>
  table(groups, [
    { title: group_by.toUpperCase(), value: ({ key }) => key ?? '-' },
    { title: 'REQUESTS', isNumber: true, value: (group) => count(asked(group)) },
    { title: 'ERRORS', isNumber: true, value: ({ errors }) => count(errors) },
    { title: 'STOPPED', isNumber: true, value: ({ cancelled }) => count(cancelled) },
    { title: 'PROMPT', isNumber: true, value: ({ prompt_tokens }) => count(prompt_tokens) },
    {
      title: 'COMPLETION',
      isNumber: true,
      value: ({ completion_tokens }) => count(completion_tokens),
    },
    { title: 'COST', isNumber: true, value: ({ cost_usd }) => usd(cost_usd) },
    { title: 'POINTS', isNumber: true, value: ({ points }) => count(points) },
  ]);
