import type { RpcInput, RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { count, moment, usd } from '../output/format.ts';
import { collected } from './arguments.ts';

/** The options of a key's limits, as they are given. */
export interface LimitOptions {
  readonly expires?: string;
  readonly budget?: string;
  readonly period?: string;
  readonly rpm?: string;
  readonly tpm?: string;
  readonly model?: readonly string[];
  readonly address?: readonly string[];
  readonly cacheTtl?: string;
}

type Limits = Omit<RpcInput<'keys.update'>, 'key_id' | 'name'>;

/** Clears a limit. */
const NONE = 'none';
const PERIODS = ['day', 'week', 'month', 'total'] as const;

/** Adds the options to a command. */
export const withLimitOptions = (command: Command): Command =>
  command
    .option('--expires <time>', 'when it stops working, such as 2030-01-31T00:00:00Z')
    .option('--budget <usd>', 'what its requests may cost in a period')
    .option('--period <period>', 'day, week, month or total; month by default')
    .option('--rpm <count>', 'requests per minute')
    .option('--tpm <count>', 'tokens per minute')
    .option('--model <name>', 'a model that it may use, may contain *; repeatable', collected)
    .option('--address <cidr>', 'a client address that may use it; repeatable', collected)
    .option('--cache-ttl <seconds>', 'how old answers of the exact cache may be; off by default');

/** The parameters that the options stand for. */
export function limitsOf(options: LimitOptions): Limits {
  const { expires, budget, period, rpm, tpm, model, address, cacheTtl } = options;
  return {
    ...(expires === undefined ? {} : { expires_at: expires === NONE ? null : expires }),
    ...(budget === undefined ? {} : { budget_usd: numberOf('--budget', budget) }),
    ...(period === undefined ? {} : { budget_period: periodOf(period) }),
    ...(rpm === undefined ? {} : { rpm: numberOf('--rpm', rpm) }),
    ...(tpm === undefined ? {} : { tpm: numberOf('--tpm', tpm) }),
    ...(model === undefined ? {} : { models: listOf(model) }),
    ...(address === undefined ? {} : { addresses: listOf(address) }),
    ...(cacheTtl === undefined ? {} : { cache: cacheOf(cacheTtl) }),
  };
}

/** The limits of a key in a few words. */
export function shownLimits({
  rpm,
  tpm,
  budget_usd,
  budget_period,
  models,
  addresses,
  expires_at,
}: RpcResult<'keys.list'>[number]): string {
  return [
    rpm === null ? '' : `${count(rpm)} requests/min`,
    tpm === null ? '' : `${count(tpm)} tokens/min`,
    budget_usd === null ? '' : `${usd(budget_usd)}/${budget_period ?? 'month'}`,
    models === null ? '' : `only ${models.join(' ')}`,
    addresses === null ? '' : `from ${addresses.join(' ')}`,
    expires_at === null ? '' : `until ${moment(expires_at)}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function numberOf(name: string, text: string): number | null {
  if (text === NONE) return null;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new CliError('usage', `${name} must be a number or '${NONE}', not ${JSON.stringify(text)}`);
}

function cacheOf(text: string): { ttl_secs: number } | null {
  const ttl = numberOf('--cache-ttl', text);
  return ttl === null ? null : { ttl_secs: ttl };
}

function periodOf(text: string): (typeof PERIODS)[number] {
  const period = PERIODS.find((known) => known === text);
  if (period !== undefined) return period;
  throw new CliError('usage', `--period must be one of ${PERIODS.join(', ')}`);
}

const listOf = (values: readonly string[]): string[] | null =>
  values.length === 1 && values[0] === NONE ? null : [...values];
