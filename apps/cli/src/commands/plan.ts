import type { RpcResult } from '@model-gateway/contracts';
import { RpcCallError } from '@model-gateway/client';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { count, limit, meteredRequests, usd } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';

type Plan = RpcResult<'billing.plan'>;

export function addPlanCommands(program: Command, run: Runner): void {
  const plan = program
    .command('plan')
    .summary('show and set tiers')
    .description('Tiers: what an account may use.')
    .helpCommand(false);
  plan
    .command('show')
    .summary('show your tier and what remains')
    .description('Show your tier, what you used this month, what remains, and all tiers.')
    .addHelpText('after', '\nExample:\n  gateway plan show')
    .action(run(showPlan));
  plan
    .command('set')
    .summary('set the tier of an account')
    .description(
      'Set the tier of an account. Needs the admin token; applies from the next request.',
    )
    .argument('<email>', 'the account')
    .argument('<tier>', 'the tier; `gateway plan show` lists them')
    .addHelpText('after', '\nExample:\n  gateway plan set you@example.com enterprise')
    .action(run(setPlan));
}

async function showPlan({ service }: CommandContext): Promise<Answer> {
  const plan = await service.call('billing.plan', {});
  return { json: plan, text: planText(plan) };
}

function planText(plan: Plan): string {
  const { current_tier, usage, remaining, points_balance, tiers } = plan;
  const lines = [
    `Tier        ${oneLine(current_tier)}`,
    `This month  ${meteredRequests(usage.requests)}, ${count(usage.tokens)} tokens, ${usd(usage.cost_usd)}`,
    `Remaining   ${limit(remaining.tokens)} tokens, ${limit(remaining.cost_usd, usd)}${plan.quota_exceeded ? ' (quota exceeded)' : ''}`,
    `Points      ${count(points_balance)}`,
  ];
  const rows = table(tiers, [
    { title: 'TIER', value: ({ name }) => name },
    { title: 'REQUESTS/MIN', isNumber: true, value: ({ rpm }) => limit(rpm) },
    {
      title: 'TOKENS/MONTH',
      isNumber: true,
      value: ({ monthly_token_quota: quota }) => limit(quota),
    },
    {
      title: 'USD/MONTH',
      isNumber: true,
      value: ({ monthly_usd_quota: quota }) => limit(quota, usd),
    },
  ]);
  return [...lines, '', rows].join('\n');
}

async function setPlan({ service }: CommandContext, email: string, tier: string): Promise<Answer> {
  try {
    await service.callAsAdmin('billing.plan.set', { user_email: email, tier });
  } catch (error) {
    throw error instanceof RpcCallError ? withNextStep(error, email, tier) : error;
  }
  return {
    json: { email, tier },
    text: `${oneLine(email)} is on the tier ${oneLine(tier)} now.`,
    note: `This was done with the admin token ${await service.adminTokenSource()}.`,
  };
}

/** The service says what it did not find; this adds where to look. */
function withNextStep(error: RpcCallError, email: string, tier: string): unknown {
  switch (error.message) {
    case 'tier not found':
      return new CliError(
        'not_found',
        `there is no tier ${JSON.stringify(tier)}`,
        'List the tiers: gateway plan show',
      );
    case 'user not found':
      return new CliError(
        'not_found',
        `there is no account ${JSON.stringify(email)}`,
        `Check the address, or create the account: gateway login --register --email ${email}`,
      );
    default:
      return error;
  }
}
