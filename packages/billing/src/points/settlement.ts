import type { UsageEvent } from '@model-gateway/contracts';
import type {
  AccountState,
  DrawingAccount,
  QuotaWindow,
  WindowUsage,
} from '../admission/admission-store.ts';
import type { TierLimits } from '../admission/billing-facts.ts';
import { FREE_TIER, isDrained } from '../admission/admission-decision.ts';
import { windowName } from '../admission/quota-window.ts';

type TierUsage = Pick<WindowUsage, 'costUsd' | 'tokens'>;

/** An account before and after settlement. */
export type SettledAccount = DrawingAccount & Pick<AccountState, 'balance'>;

/** The state before a batch is settled. */
export interface SettlementInput {
  /** None of them was settled before; the order matters. */
  readonly events: readonly UsageEvent[];
  /** The existing accounts: a missing one covers nothing. */
  readonly accounts: readonly SettledAccount[];
  /** A missing window is empty. */
  readonly windows: readonly (QuotaWindow & TierUsage)[];
  /** By user id; a missing user is on the free tier. */
  readonly tiers: ReadonlyMap<string, TierLimits>;
  readonly pointsPerUsd: number;
}

/** A usage row. Points are null if the tier paid. */
export interface SettledRow {
  readonly event: UsageEvent;
  readonly points: number | null;
  readonly accountType: DrawingAccount['type'] | null;
}

/** The points that an account paid for one row. */
export interface PointsMovement {
  readonly account: DrawingAccount;
  readonly rowId: string;
  readonly points: number;
  readonly balanceAfter: number;
}

/** A user whose request an account could not cover on a drained tier, in the month of that request. */
export interface RefusedMember extends QuotaWindow {
  readonly account: DrawingAccount;
}

export interface Settlement {
  readonly rows: readonly SettledRow[];
  readonly movements: readonly PointsMovement[];
  /** The changed ones, with their new state. */
  readonly accounts: readonly SettledAccount[];
  /** Each once. */
  readonly refused: readonly RefusedMember[];
}

// The maximum of a usage row.
const POINTS_MAX = 2_147_483_647;
// Half a point rounds up, also where it is a little less in floating point, as 0.145 times 100 is.
const HALF_TOLERANCE = 1 + 1e-12;
const MONTH_CHARS = 'YYYY-MM'.length;
const UNUSED: TierUsage = { costUsd: 0, tokens: 0 };

/** Settles events one after another: points where the account covers them, the tier's quota otherwise. */
export function settle(input: SettlementInput): Settlement {
  const books = openBooks(input);
  const rows = input.events.map((event) => settleOne(event, books, input.pointsPerUsd));
  const { movements, changed, refused } = books;
  return { rows, movements, accounts: [...changed.values()], refused: [...refused.values()] };
}

/** The account that pays for an event: the pool of its group, or the wallet of its user. */
export function accountOf(event: Pick<UsageEvent, 'user_id' | 'group_id'>): DrawingAccount {
  return event.group_id === null
    ? { type: 'user', id: event.user_id }
    : { type: 'group', id: event.group_id };
}

/** The window that an event counts in: the UTC month in which it was completed, whenever it is settled. */
export const windowOfEvent = (event: UsageEvent): QuotaWindow => ({
  userId: event.user_id,
  month: event.created_at.slice(0, MONTH_CHARS),
});

function settleOne(event: UsageEvent, books: Books, pointsPerUsd: number): SettledRow {
  const account = books.accountFor(event);
  const isTierDrained = books.isTierDrained(event);
  const charge = chargeOf(event, pointsPerUsd, isTierDrained && (account?.balance ?? 0) > 0);
  if (account !== undefined && charge > 0) {
    if (account.balance >= charge) {
      books.draw(account, charge, event.id);
      return { event, points: charge, accountType: account.type };
    }
    if (isTierDrained) books.refuse(account, windowOfEvent(event));
  }
  books.countOnTier(event);
  return { event, points: null, accountType: null };
}

/** The points for an event, before checking whether they can be paid. */
function chargeOf(event: UsageEvent, pointsPerUsd: number, isTakingOver: boolean): number {
  if (event.cost === null || event.cost === 0) return 0;
  const charge = Math.round(event.cost * pointsPerUsd * event.multiplier * HALF_TOLERANCE);
  // When points replace a drained tier, a priced request costs at least one point.
  return Math.min(Math.max(charge, isTakingOver ? 1 : 0), POINTS_MAX);
}

/** The state that changes while a batch is settled. */
interface Books {
  readonly movements: readonly PointsMovement[];
  readonly changed: ReadonlyMap<string, SettledAccount>;
  readonly refused: ReadonlyMap<string, RefusedMember>;
  accountFor(event: UsageEvent): SettledAccount | undefined;
  isTierDrained(event: UsageEvent): boolean;
  draw(account: SettledAccount, points: number, rowId: string): void;
  refuse(account: DrawingAccount, window: QuotaWindow): void;
  countOnTier(event: UsageEvent): void;
}

function openBooks(input: SettlementInput): Books {
  const accounts = new Map(input.accounts.map((account) => [accountName(account), account]));
  const changed = new Map<string, SettledAccount>();
  const refused = new Map<string, RefusedMember>();
  const movements: PointsMovement[] = [];
  const usage = new Map<string, TierUsage>(
    input.windows.map((window) => [windowName(window), window]),
  );
  const usageOf = (window: QuotaWindow): TierUsage => usage.get(windowName(window)) ?? UNUSED;

  function change(account: SettledAccount): void {
    accounts.set(accountName(account), account);
    changed.set(accountName(account), account);
  }

  return {
    movements,
    changed,
    refused,
    accountFor: (event) => accounts.get(accountName(accountOf(event))),
    isTierDrained(event) {
      const tier = input.tiers.get(event.user_id) ?? FREE_TIER;
      return isDrained(tier, usageOf(windowOfEvent(event)));
    },
    draw({ type, id, balance }, points, rowId) {
      const balanceAfter = balance - points;
      change({ type, id, balance: balanceAfter });
      movements.push({ account: { type, id }, rowId, points, balanceAfter });
    },
    refuse({ type, id }, window) {
      const account = { type, id };
      refused.set(`${windowName(window)} ${accountName(account)}`, { ...window, account });
    },
    countOnTier(event) {
      const window = windowOfEvent(event);
      const { costUsd, tokens } = usageOf(window);
      usage.set(windowName(window), {
        costUsd: costUsd + (event.cost ?? 0),
        tokens: tokens + event.total_tokens,
      });
    },
  };
}

const accountName = ({ type, id }: DrawingAccount): string => `${type}:${id}`;
