import type { RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { count, duration, moment, meteredRequests, usd } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { wholeNumber } from './arguments.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 200;
const OFFSET_MAX = 2 ** 31 - 1;

type Row = RpcResult<'usage.list'>['records'][number];

interface UsageOptions {
  readonly limit: number;
  readonly offset: number;
  readonly project?: string;
}

export function addUsageCommand(program: Command, run: Runner): void {
  const usage = program
    .command('usage')
    .summary('list your metered requests')
    .description('List your metered requests, newest first, and the sum of this month.')
    .option('--limit <rows>', 'how many', wholeNumber('--limit', 1, LIMIT_MAX), LIMIT_DEFAULT)
    .option('--offset <rows>', 'how many to skip', wholeNumber('--offset', 0, OFFSET_MAX), 0)
    .option('--project <label>', 'only those of a project')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway usage --limit 5\n  gateway usage --project builds --json',
    )
    .helpCommand(false)
    .action(run(listUsage));
  usage
    .command('skip')
    .summary('show the event at which the recorder waits, or skip it')
    .description(
      'Without an id: show the usage events at which recorders wait, because they cannot record them. With one:\n' +
        'set that event aside, unbilled, so that the recorder goes on. For admins.',
    )
    .argument('[id]', 'the id of the event')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway usage skip\n  gateway usage skip 6d0c1f0e-6f5f-4a0e-9a35-0c3c5d9d2b11',
    )
    .action(run(skipEvent));
}

async function skipEvent({ service }: CommandContext, id: string | undefined): Promise<Answer> {
  if (id !== undefined) {
    const skipped = await service.callAsAnyAdmin('usage.halts.skip', { event_id: id });
    return {
      json: skipped,
      text: `Set ${oneLine(id)} aside, unbilled. The recorder goes on within half a minute.`,
      note: 'To record it once the cause is gone: usage:rejected retry, as docs/operations.md says.',
    };
  }
  const halted = await service.callAsAnyAdmin('usage.halts.list', {});
  const [first] = halted.events;
  return {
    json: halted,
    text:
      first === undefined
        ? 'No event is in the way: usage is recorded.'
        : table(halted.events, [
            { title: 'EVENT', value: ({ event_id }) => event_id },
            { title: 'SINCE (UTC)', value: ({ since }) => moment(since) },
            { title: 'LAST TRIED', value: ({ last_tried_at }) => moment(last_tried_at) },
            { title: 'ERROR', value: ({ error }) => oneLine(error) },
          ]),
    ...(first === undefined
      ? {}
      : { note: `To set it aside: gateway usage skip ${first.event_id}` }),
  };
}

async function listUsage(
  { service }: CommandContext,
  { limit, offset, project }: UsageOptions,
): Promise<Answer> {
  const filter = project === undefined ? {} : { project };
  const [listed, plan] = await Promise.all([
    service.call('usage.list', { limit, offset, ...filter }),
    service.call('billing.plan', {}),
  ]);
  const { usage } = plan;
  const sum = `This month: ${meteredRequests(usage.requests)}, ${count(usage.tokens)} tokens, ${usd(usage.cost_usd)}.`;
  const { records, total } = listed;
  return {
    json: { ...listed, month: usage },
    text: records.length === 0 ? 'No metered requests.' : `${usageTable(records)}\n\n${sum}`,
    ...(records.length < total
      ? { note: `${count(records.length)} of ${count(total)} rows.` }
      : {}),
  };
}

const usageTable = (rows: readonly Row[]): string =>
  table(rows, [
    { title: 'TIME (UTC)', value: ({ created_at }) => moment(created_at) },
    { title: 'MODEL', value: ({ model }) => model },
    { title: 'PROMPT', isNumber: true, value: ({ prompt_tokens }) => count(prompt_tokens) },
    {
      title: 'COMPLETION',
      isNumber: true,
      value: ({ completion_tokens }) => count(completion_tokens),
    },
    { title: 'COST', isNumber: true, value: ({ cost }) => usd(cost) },
    {
      title: 'POINTS',
      isNumber: true,
      value: ({ points }) => (points === null ? '-' : count(points)),
    },
    { title: 'BACKEND', value: ({ upstream }) => upstream ?? '-' },
    {
      title: 'FIRST TOKEN',
      isNumber: true,
      value: ({ first_token_ms: ms }) => (ms === null ? '-' : duration(ms)),
    },
    { title: 'PROJECT', value: ({ project }) => project ?? '-' },
  ]);
