import type { RpcResult } from '@model-gateway/contracts';
import type { SpendGroup } from '../../spend/summary.ts';
import type { TextKey, TextValues } from '../../texts/texts.ts';
import { shareOf } from './error-share.ts';

type Plan = RpcResult<'billing.plan'>;
type Key = RpcResult<'keys.list'>[number];
type Node = RpcResult<'agents.list'>[number];
type BackendRow = Pick<
  RpcResult<'backends.list'>[number],
  'name' | 'state' | 'reason' | 'checked_at'
>;
type VideoJob = Pick<RpcResult<'video.list'>['jobs'][number], 'status' | 'created_at'>;

/** Something that a person should look at. */
export interface Concern {
  readonly id: string;
  readonly state: 'warning' | 'bad';
  readonly text: TextKey;
  readonly values: TextValues;
  /** When it happens or happened; shown as a time. */
  readonly at?: string;
  /** The page on which it can be fixed. */
  readonly to: string;
}

/** What is known; parts that the viewer may not see are absent. */
export interface Situation {
  readonly plan?: Plan | undefined;
  readonly keys?: readonly Key[] | undefined;
  readonly nodes?: readonly Node[] | undefined;
  readonly backends?: readonly BackendRow[] | undefined;
  readonly upstreams?: readonly SpendGroup[] | undefined;
  readonly videos?: readonly VideoJob[] | undefined;
}

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
const EXPIRY_NEAR_MS = WEEK_DAYS * DAY_MS;
const SHARE_NEAR = 0.8;
const ERROR_SHARE = 0.1;
/** One failure of two says little. */
const ERRORS_MIN = 3;
/** A video that waits longer does not start by itself soon. */
const VIDEO_WAIT_MS = 600_000;
const SECOND_MS = 1000;

/** What is unhealthy now, and what will run out and when, the worst first. */
export function concernsOf(situation: Situation, now: number): readonly Concern[] {
  return [
    ...backendConcerns(situation.backends ?? []),
    ...upstreamConcerns(situation.upstreams ?? []),
    ...nodeConcerns(situation.nodes ?? []),
    ...videoConcerns(situation.videos ?? [], now),
    ...(situation.plan === undefined ? [] : planConcerns(situation.plan, now)),
    ...(situation.keys ?? [])
      .filter((key) => key.active || (key.revoked_at === null && isOver(key, now)))
      .flatMap((key) => keyConcerns(key, now)),
  ].toSorted((one, other) => Number(other.state === 'bad') - Number(one.state === 'bad'));
}

const backendConcerns = (backends: readonly BackendRow[]): readonly Concern[] =>
  backends
    .filter(({ state }) => state !== 'Healthy')
    .flatMap(({ name, state, reason, checked_at: at }) =>
      // One that was added a moment ago was not checked yet.
      at === null
        ? []
        : {
            id: `backend ${name}`,
            state: 'bad',
            text: 'attention.backend',
            values: { name, state, reason: reason ?? '' },
            at,
            to: '/backends',
          },
    );

const upstreamConcerns = (upstreams: readonly SpendGroup[]): readonly Concern[] =>
  upstreams
    // Without an upstream, the service itself refused them, such as over a rate limit.
    .flatMap(({ key, ...sums }) => (key === null ? [] : { ...sums, name: key }))
    .filter((sums) => sums.errors >= ERRORS_MIN && (shareOf(sums) ?? 0) >= ERROR_SHARE)
    .map(({ name, errors, requests }) => ({
      id: `upstream ${name}`,
      state: 'bad',
      text: 'attention.upstream',
      values: { name, errors, requests },
      to: '/requests',
    }));

const nodeConcerns = (nodes: readonly Node[]): readonly Concern[] =>
  nodes
    .filter(({ status }) => status === 'offline')
    .map(({ id, name, last_heartbeat_at: at }) => ({
      id: `node ${id}`,
      state: 'bad',
      text: at === null ? 'attention.node.never' : 'attention.node',
      values: { name },
      ...(at === null ? {} : { at }),
      to: '/nodes',
    }));

function videoConcerns(videos: readonly VideoJob[], now: number): readonly Concern[] {
  const since = videos
    .filter(({ status }) => status === 'queued')
    .map(({ created_at: seconds }) => seconds * SECOND_MS)
    .filter((time) => now - time > VIDEO_WAIT_MS);
  if (since.length === 0) return [];
  return [
    {
      id: 'video',
      state: 'bad',
      text: 'attention.video',
      values: { count: since.length },
      at: new Date(Math.min(...since)).toISOString(),
      to: '/video',
    },
  ];
}

/** Quotas, and at the pace of this month the day on which one is used up. */
function planConcerns(
  { usage, remaining, quota_exceeded: isExceeded }: Plan,
  now: number,
): readonly Concern[] {
  if (isExceeded)
    return [
      { id: 'quota', state: 'bad', text: 'attention.quota.exceeded', values: {}, to: '/plan' },
    ];
  const pairs = [
    [usage.cost_usd, remaining.cost_usd],
    [usage.tokens, remaining.tokens],
  ] as const;
  const ends = pairs
    .map(([used, left]) => (left === null ? undefined : runsOutAt(used, left, monthOf(now), now)))
    .filter((end) => end !== undefined);
  if (ends.length === 0) return [];
  return [
    {
      id: 'quota',
      state: 'warning',
      text: 'attention.quota.near',
      values: {},
      at: new Date(Math.min(...ends)).toISOString(),
      to: '/plan',
    },
  ];
}

/** From when until when an amount lasts. */
interface Period {
  readonly start: number;
  readonly end: number;
}

function monthOf(now: number): Period {
  const date = new Date(now);
  return {
    start: Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1),
    end: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1),
  };
}

/** When an amount is used up at the pace so far; undefined if that is not before its period ends. */
export function runsOutAt(
  used: number,
  left: number,
  { start, end }: Period,
  now: number,
): number | undefined {
  const isNear = used / (used + left) >= SHARE_NEAR;
  // The pace of the first day says little.
  if (used === 0 || (now - start < DAY_MS && !isNear)) return undefined;
  const at = now + (left / used) * (now - start);
  return at < end ? at : undefined;
}

/** The period of a budget: it ends when the budget begins anew, or never. */
function budgetPeriod({
  budget_period: name,
  budget_resets_at: end,
  created_at: made,
}: Key): Period {
  if (end === null) return { start: Date.parse(made), end: Infinity };
  const date = new Date(end);
  const start =
    name === 'month'
      ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1)
      : date.getTime() - (name === 'week' ? WEEK_DAYS : 1) * DAY_MS;
  return { start, end: date.getTime() };
}

const isOver = ({ expires_at: end }: Key, now: number): boolean =>
  end !== null && Date.parse(end) <= now;

function keyConcerns(key: Key, now: number): readonly Concern[] {
  const { id, name, expires_at: end, budget_usd: budget, budget_used_usd: used } = key;
  const concerns: Concern[] = [];
  if (end !== null && Date.parse(end) - now < EXPIRY_NEAR_MS) {
    concerns.push({
      id: `expiry ${id}`,
      state: isOver(key, now) ? 'bad' : 'warning',
      text: isOver(key, now) ? 'attention.key.expired' : 'attention.key.expires',
      values: { name },
      at: end,
      to: '/keys',
    });
  }
  if (budget !== null && used !== null) concerns.push(...budgetConcerns(key, budget, used, now));
  return concerns;
}

function budgetConcerns(key: Key, budget: number, used: number, now: number): readonly Concern[] {
  const { id, name, budget_resets_at: resetsAt } = key;
  const concern = { id: `budget ${id}`, to: '/keys' };
  if (used >= budget)
    return [
      {
        ...concern,
        state: 'bad',
        values: { name },
        ...(resetsAt === null
          ? { text: 'attention.budget.used' }
          : { text: 'attention.budget.used.until', at: resetsAt }),
      },
    ];
  const end = runsOutAt(used, budget - used, budgetPeriod(key), now);
  const share = Math.floor((used / budget) * 100);
  const isNear = used >= budget * SHARE_NEAR;
  // A budget without an end is used up some day, which matters only when that day is near.
  if (end !== undefined && (isNear || resetsAt !== null))
    return [
      {
        ...concern,
        state: 'warning',
        text: 'attention.budget.ends',
        values: { name, share },
        at: new Date(end).toISOString(),
      },
    ];
  return isNear
    ? [{ ...concern, state: 'warning', text: 'attention.budget.near', values: { name, share } }]
    : [];
}
