import type { RpcResult } from '@model-gateway/contracts';
import type { CommandContext } from '../command-context.ts';
import { limit, usd } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { checked, type CheckResult } from './check.ts';
import { nodesCheck } from './nodes.ts';

type Plan = RpcResult<'billing.plan'>;
type User = RpcResult<'auth.me'>;

/** The sign-in, the plan and the keys of the user, and the nodes where the user is an admin. */
export async function accountChecks({ service }: CommandContext): Promise<readonly CheckResult[]> {
  const { url } = service;
  if ((await service.session.stored()) === undefined) {
    const next = `Run: gateway login --url ${url}`;
    return [
      checked('sign-in', 'warning', `you are not signed in at ${url}`, next),
      checked('plan', 'skipped', 'needs a sign-in', next),
      checked('keys', 'skipped', 'needs a sign-in', next),
    ];
  }
  const user = await service.call('auth.me', {});
  const [plan, keys, nodes] = await Promise.all([
    service.call('billing.plan', {}),
    service.list('keys.list', {}),
    user.is_admin ? service.list('agents.list', {}) : undefined,
  ]);
  const role = user.is_admin ? ', an admin' : '';
  return [
    checked('sign-in', 'ok', `signed in as ${oneLine(user.email)}${role}`),
    planCheck(plan, user),
    keysCheck(keys.filter(({ active }) => active).length),
    ...(nodes === undefined ? [] : [nodesCheck(nodes)]),
  ];
}

/** The limits of the account, and the command that lifts them. */
export function planCheck(
  plan: Plan,
  { email, is_admin }: Pick<User, 'email' | 'is_admin'>,
): CheckResult {
  const { current_tier, tiers, remaining, quota_exceeded, points_balance } = plan;
  const tier = tiers.find(({ name }) => name === current_tier);
  const widest = tiers.toSorted((left, right) => wide(right) - wide(left))[0];
  const isLimited =
    tier !== undefined && Object.values(tier).some((value) => typeof value === 'number');
  const isWidest = widest === undefined || widest.name === current_tier;
  const lift = `gateway plan set ${oneLine(email)} ${isWidest ? '<tier>' : oneLine(widest.name)}`;
  const limits = `tier ${oneLine(current_tier)}: ${limit(tier?.rpm ?? null)} requests a minute for each key, ${limit(remaining.tokens)} tokens and ${limit(remaining.cost_usd, usd)} left this month`;
  if (quota_exceeded) {
    const status = points_balance > 0 ? 'warning' : 'failed';
    return checked(
      'plan',
      status,
      `${limits}; the quota is used up`,
      `An operator lifts it: ${lift}`,
    );
  }
  if (!isLimited || isWidest) return checked('plan', 'ok', limits);
  // A new operator meets these limits in the first minutes.
  return checked('plan', is_admin ? 'warning' : 'ok', limits, `To lift these limits: ${lift}`);
}

/** Orders tiers by their limit of requests, then of tokens. */
const wide = ({ rpm, monthly_token_quota }: Plan['tiers'][number]): number =>
  (rpm ?? 1e9) * 1e6 + Math.log10((monthly_token_quota ?? 1e15) + 1);

function keysCheck(active: number): CheckResult {
  return active === 0
    ? checked('keys', 'warning', 'you have no API key', 'Create one: gateway keys create "my key"')
    : checked('keys', 'ok', `${active} active API ${active === 1 ? 'key' : 'keys'}`);
}
