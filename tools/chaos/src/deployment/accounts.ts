import { createDatabase } from '@model-gateway/db';
import { newId, silentLog } from '@model-gateway/kernel';
import { insertAccount, rpcCall, waitUntil } from '@model-gateway/testkit';

/** A user with an API key; a group pays for the key if there is one. */
export interface Payer {
  readonly email: string;
  readonly userId: string;
  readonly token: string;
  readonly key: string;
  readonly groupId: string;
}

/** The accounts of the load, and the points that it moved. */
export interface Accounts {
  readonly payers: readonly Payer[];
  /** The access token of the admin. */
  readonly adminJwt: string;
  /** Adds points to a pool; what failed is repeated by `finish`. */
  topUp(payer: Payer, points: number): Promise<void>;
  /** Moves points from a pool to a wallet; what failed is repeated by `finish`. */
  allocate(payer: Payer, points: number): Promise<void>;
  /** Repeats every movement whose outcome is unknown, until it is certain. */
  finish(): Promise<void>;
  /** Points that came to an account and were not moved on, by `type:id`. */
  readonly funded: ReadonlyMap<string, number>;
}

interface AccountsOptions {
  readonly rpcUrl: string;
  readonly databaseUrl: string;
  readonly adminToken: string;
}

interface Movement {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly token: string;
  readonly changes: Readonly<Record<string, number>>;
}

const ADMIN = 'admin@example.com';
const TIER = 'chaos';
/** Used up within a few requests, so that points pay for the rest. */
const TIER_USD = 0.0005;
const PAYERS = 3;
/** Enough for an hour of load, so that requests are served and not refused. */
const FIRST_POINTS = 200_000_000;
/** Nothing was moved, and a repetition would not move anything either. */
const POOL_SHORT = 'the pool does not hold so many points';

export async function createAccounts(options: AccountsOptions): Promise<Accounts> {
  const { rpcUrl, adminToken } = options;
  const funded = new Map<string, number>();
  const unknown = new Set<Movement>();

  async function call<Result>(method: string, params: object, token: string): Promise<Result> {
    const { error, result } = await rpcCall(rpcUrl, method, params, token);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  }

  async function move(movement: Movement): Promise<void> {
    unknown.add(movement);
    try {
      await call(movement.method, movement.params, movement.token);
    } catch (error) {
      if (String(error).includes(POOL_SHORT)) unknown.delete(movement);
      throw error;
    }
    if (!unknown.delete(movement)) return;
    for (const [account, points] of Object.entries(movement.changes))
      funded.set(account, (funded.get(account) ?? 0) + points);
  }

  const topUp = ({ groupId }: Payer, points: number): Promise<void> =>
    move({
      method: 'group.credits.topup',
      params: { group_id: groupId, points, idempotency_key: newId() },
      token: adminJwt,
      changes: { [`group:${groupId}`]: points },
    });
  const allocate = ({ groupId, email, userId, token }: Payer, points: number): Promise<void> =>
    move({
      method: 'group.credits.allocate',
      params: { group_id: groupId, user_id: email, points, idempotency_key: newId() },
      token,
      changes: { [`group:${groupId}`]: -points, [`user:${userId}`]: points },
    });

  const finish = async (): Promise<void> => {
    for (const movement of unknown) await move(movement);
  };
  /** Repeats a movement with its key until it is certain, as after a refusal of a busy service. */
  const certain = async (begin: () => Promise<void>): Promise<void> => {
    await begin().catch(() => undefined);
    await waitUntil(() => finish().then(() => true), { what: 'a movement of points' });
  };
  const signIn = (
    email: string,
  ): Promise<{ readonly user: { readonly id: string }; readonly access_token: string }> =>
    call('auth.login', { email, password: 'long enough' }, '');

  async function createPayer(email: string, isPaidByGroup: boolean): Promise<Payer> {
    const { user, access_token: token } = await signIn(email);
    await call('billing.plan.set', { user_email: email, tier: TIER }, adminToken);
    const { id: groupId } = await call<{ id: string }>('group.create', { name: email }, token);
    const { key } = await call<{ key: string }>(
      'keys.create',
      { name: 'chaos', ...(isPaidByGroup ? { group_id: groupId } : {}) },
      token,
    );
    const payer = { email, userId: user.id, token, key, groupId };
    await certain(() => topUp(payer, FIRST_POINTS));
    await certain(() => allocate(payer, FIRST_POINTS / 2));
    return payer;
  }

  const emails = Array.from({ length: PAYERS }, (_, index) => `payer${index}@example.com`);
  const database = createDatabase({ databaseUrl: options.databaseUrl, log: silentLog });
  try {
    for (const email of [ADMIN, ...emails]) await insertAccount(database, email);
  } finally {
    await database.close();
  }
  const { access_token: adminJwt } = await signIn(ADMIN);
  const quotas = { monthly_usd_quota: TIER_USD, monthly_token_quota: null, rpm: null };
  await call('billing.tiers.set', { name: TIER, ...quotas }, adminToken);
  const payers: Payer[] = [];
  for (const [index, email] of emails.entries())
    payers.push(await createPayer(email, index % 2 === 0));
  return {
    payers,
    adminJwt,
    funded,
    topUp,
    allocate,
    finish: () => waitUntil(() => finish().then(() => true), { what: 'every movement of points' }),
  };
}
