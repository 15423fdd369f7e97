import type {
  AuditStore,
  ConversationStore,
  GroupStore,
  IdentityStore,
  InvitationStore,
  KeyStore,
  MemberStore,
  ModelRuleStore,
  PasswordStore,
  ProviderStore,
  RefreshTokenStore,
  SignInAddressStore,
  UserDirectoryStore,
  UserStore,
} from '@model-gateway/accounts';
import type {
  BillingFacts,
  LedgerStore,
  PlanStore,
  PriceStore,
  RejectedUsageStore,
  RequestLog,
  RequestLogStore,
  SpendQueries,
  SpendSumsStore,
  UsageQueries,
  UsageStore,
  VideoPricingStore,
} from '@model-gateway/billing';
import type { FileEntryStore } from '@model-gateway/config-file';
import { ServiceError } from '@model-gateway/contracts';
import type { MemoryEventStore, ResponseStore, VideoJobStore } from '@model-gateway/inference';
import {
  createDeferred,
  createFairQueue,
  withTimeout,
  type FairQueue,
  type Log,
} from '@model-gateway/kernel';
import type {
  AgentCounter,
  AgentConnections,
  AgentStore,
  BackendConfigStore,
  RouteRuleStore,
} from '@model-gateway/router';
import type {
  DeliveryStore,
  EventOutbox,
  EventSources,
  WebhookStore,
} from '@model-gateway/webhooks';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type ClientBase } from 'pg';
import { createConnection, joinTransaction, type Connection } from './connection/connection.ts';
import { PrismaClient } from './generated/client.ts';
import { createPostgresAgentCounter } from './routing/postgres-agent-counter.ts';
import { createPostgresAgentConnections } from './routing/postgres-agent-connections.ts';
import { createPostgresAgents } from './routing/postgres-agents.ts';
import { createPostgresAudit } from './audit/postgres-audit.ts';
import { createPostgresBackendConfigs } from './routing/postgres-backend-configs.ts';
import { createPostgresBillingFacts } from './billing/postgres-billing-facts.ts';
import { createPostgresConversations } from './conversations/postgres-conversations.ts';
import { createPostgresFileEntries } from './config-file/postgres-file-entries.ts';
import { createPostgresGroupMembers } from './accounts/postgres-group-members.ts';
import { createPostgresGroups } from './accounts/postgres-groups.ts';
import { createPostgresInvitations } from './accounts/postgres-invitations.ts';
import { createPostgresKeys } from './accounts/postgres-keys.ts';
import { createPostgresLedger } from './billing/postgres-ledger.ts';
import { createPostgresMemoryEvents } from './conversations/postgres-memory-events.ts';
import { createPostgresModelRules } from './accounts/postgres-model-rules.ts';
import { createPostgresPlans } from './billing/postgres-plans.ts';
import { createPostgresPrices } from './billing/postgres-prices.ts';
import { createPostgresProviders } from './routing/postgres-providers.ts';
import { createPostgresRouteRules } from './routing/postgres-route-rules.ts';
import { createPostgresRefreshTokens } from './accounts/postgres-refresh-tokens.ts';
import { createPostgresSignInAddresses } from './accounts/postgres-sign-in-addresses.ts';
import { createPostgresResponses } from './conversations/postgres-responses.ts';
import { createPostgresRejectedUsage } from './usage/postgres-rejected-usage.ts';
import { createPostgresRequestLog } from './request-log/postgres-request-log.ts';
import { createPostgresRequestLogStore } from './request-log/postgres-request-log-store.ts';
import { createPostgresSpendSums } from './sums/postgres-spend-sums.ts';
import { createPostgresSpend } from './sums/postgres-spend.ts';
import { createPostgresUsageQueries } from './usage/postgres-usage-queries.ts';
import { createPostgresUsage } from './usage/postgres-usage.ts';
import { createPostgresIdentities } from './accounts/postgres-identities.ts';
import { createPostgresPasswords } from './accounts/postgres-passwords.ts';
import { createPostgresUserDirectory } from './accounts/postgres-user-directory.ts';
import { createPostgresUsers } from './accounts/postgres-users.ts';
import { createPostgresVideoJobs } from './video/postgres-video-jobs.ts';
import { createPostgresVideoPricing } from './billing/postgres-video-pricing.ts';
import { createPostgresDeliveries } from './webhooks/postgres-deliveries.ts';
import { createPostgresEventSources } from './webhooks/postgres-event-sources.ts';
import { createPostgresOutbox } from './webhooks/postgres-outbox.ts';
import { createPostgresWebhooks } from './webhooks/postgres-webhooks.ts';
import { createSigningSecrets } from './webhooks/signing-secrets.ts';
import { allowLongQueries } from './connection/long-queries.ts';
import { leaveReadOnlyServer } from './connection/read-only-server.ts';
import { createSecretBox } from './connection/secret-box.ts';
import { preferStandby } from './connection/standby-connection.ts';
import { translateFailure } from './connection/store-failure.ts';

const POOL_CONNECTIONS_MAX = 10;
// It also bounds the wait for a free connection: a burst of requests on a busy machine needs seconds.
const CONNECT_TIMEOUT_MS = 10_000;
const STANDBY_CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 30_000;
const PING_TIMEOUT_MS = 1_000;
const CLOSE_TIMEOUT_MS = 2_000;
/** How many connections changes that wait for a common lock may take. */
const TURNS_AT_ONCE_MAX = 3;
const TURNS_WAITING_MAX = 1_000;
const TURN_WAIT_MS_MAX = 30_000;
const TURN_RETRY_SECS = 5;

interface DatabaseOptions {
  readonly databaseUrl: string;
  /** A standby for reads of usage and of the request log. */
  readonly readUrl?: string | undefined;
  readonly log: Log;
  /** 32 bytes in base64. */
  readonly encryptionKey?: string | undefined;
  readonly poolMax?: number | undefined;
}

/** The ports that Postgres implements. */
export interface DatabaseStores {
  readonly users: UserStore;
  readonly userDirectory: UserDirectoryStore;
  readonly passwords: PasswordStore;
  readonly identities: IdentityStore;
  readonly audit: AuditStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly signInAddresses: SignInAddressStore;
  readonly keys: KeyStore;
  readonly groups: GroupStore;
  readonly members: MemberStore;
  readonly invitations: InvitationStore;
  readonly modelRules: ModelRuleStore;
  readonly providers: ProviderStore;
  readonly conversations: ConversationStore;
  readonly memoryEvents: MemoryEventStore;
  readonly responses: ResponseStore;
  readonly usage: UsageStore;
  readonly rejectedUsage: RejectedUsageStore;
  readonly billingFacts: BillingFacts;
  readonly usageQueries: UsageQueries;
  readonly spend: SpendQueries;
  readonly requestLog: RequestLog;
  readonly requestLogStore: RequestLogStore;
  readonly spendSums: SpendSumsStore;
  readonly ledger: LedgerStore;
  readonly plans: PlanStore;
  readonly prices: PriceStore;
  readonly videoPricing: VideoPricingStore;
  readonly videoJobs: VideoJobStore;
  readonly backendConfigs: BackendConfigStore;
  readonly routeRules: RouteRuleStore;
  readonly fileEntries: FileEntryStore;
  readonly agents: AgentStore;
  readonly agentConnections: AgentConnections;
  readonly agentCounter: AgentCounter;
  readonly webhooks: WebhookStore;
  readonly outbox: EventOutbox;
  readonly deliveries: DeliveryStore;
  readonly eventSources: EventSources;
}

/** The connections of the pool: all, idle ones, and callers that wait for one. */
export interface PoolStats {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Postgres behind the ports of the domain. While it is unavailable, calls reject with `store_unavailable`. */
export interface Database extends DatabaseStores {
  /** All or nothing; the work runs again after a conflict with another transaction. */
  transaction<Result>(work: (stores: DatabaseStores) => Promise<Result>): Promise<Result>;
  /**
   * A transaction that writes to the audit log. The transactions of all actors are served in turn, so that few connections wait
   * for the end of the log.
   */
  auditedTransaction<Result>(
    actor: string,
    work: (stores: DatabaseStores) => Promise<Result>,
  ): Promise<Result>;
  /** Rejects when Postgres does not respond within a second. */
  ping(): Promise<void>;
  poolStats(): PoolStats;
  close(): Promise<void>;
}

/** The first call connects. */
export function createDatabase({
  databaseUrl,
  readUrl,
  log,
  encryptionKey,
  poolMax,
}: DatabaseOptions): Database {
  const secretBox = encryptionKey === undefined ? undefined : createSecretBox(encryptionKey);
  const signingSecrets = createSigningSecrets(secretBox, log);
  const max = poolMax ?? POOL_CONNECTIONS_MAX;
  const primary = openServer({ url: databaseUrl, max, connectTimeoutMs: CONNECT_TIMEOUT_MS }, log);
  const standby =
    readUrl === undefined
      ? undefined
      : openServer({ url: readUrl, max, connectTimeoutMs: STANDBY_CONNECT_TIMEOUT_MS }, log);
  const { connection, pool } = primary;
  const reading =
    standby === undefined ? connection : preferStandby(standby.connection, connection, log);
  const auditTurns = createTurns();
  const conversationTurns = createTurns();
  let closed: Promise<unknown> | undefined;

  const inTransaction = <Result>(work: (stores: DatabaseStores) => Promise<Result>) =>
    connection.transaction((queries) => work(storesOn(joinTransaction(queries))));

  const storesOn = (within: Connection, reader = within): DatabaseStores => ({
    users: createPostgresUsers(within),
    userDirectory: createPostgresUserDirectory(within),
    passwords: createPostgresPasswords(within),
    identities: createPostgresIdentities(within),
    audit: createPostgresAudit(within, auditTurns),
    refreshTokens: createPostgresRefreshTokens(within),
    signInAddresses: createPostgresSignInAddresses(within),
    keys: createPostgresKeys(within),
    groups: createPostgresGroups(within),
    members: createPostgresGroupMembers(within),
    invitations: createPostgresInvitations(within),
    modelRules: createPostgresModelRules(within),
    providers: createPostgresProviders(within),
    conversations: createPostgresConversations(within, conversationTurns),
    memoryEvents: createPostgresMemoryEvents(within),
    responses: createPostgresResponses(within),
    usage: createPostgresUsage(within),
    rejectedUsage: createPostgresRejectedUsage(within),
    billingFacts: createPostgresBillingFacts(within),
    usageQueries: createPostgresUsageQueries(reader),
    spend: createPostgresSpend(reader),
    requestLog: createPostgresRequestLog(reader),
    requestLogStore: createPostgresRequestLogStore(within),
    spendSums: createPostgresSpendSums(within),
    ledger: createPostgresLedger(within),
    plans: createPostgresPlans(within),
    prices: createPostgresPrices(within),
    videoPricing: createPostgresVideoPricing(within),
    videoJobs: createPostgresVideoJobs(within),
    routeRules: createPostgresRouteRules(within),
    fileEntries: createPostgresFileEntries(within),
    backendConfigs: createPostgresBackendConfigs({ connection: within, secretBox, log }),
    agents: createPostgresAgents(within),
    agentConnections: createPostgresAgentConnections(within),
    agentCounter: createPostgresAgentCounter(within),
    webhooks: createPostgresWebhooks(within, signingSecrets),
    outbox: createPostgresOutbox(within),
    deliveries: createPostgresDeliveries(within, signingSecrets),
    eventSources: createPostgresEventSources(within),
  });

  return {
    ...storesOn(connection, reading),
    transaction: inTransaction,
    auditedTransaction: (actor, work) => auditTurns.run(actor, () => inTransaction(work)),
    ping: () => ping(pool),
    poolStats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async close() {
      closed ??= Promise.all([primary.close(), standby?.close()]);
      await closed;
    },
  };
}

/** Of each user one at a time: they would only wait for each other, each with a connection. */
const createTurns = (): FairQueue =>
  createFairQueue({
    atOnceMax: TURNS_AT_ONCE_MAX,
    waitingMax: TURNS_WAITING_MAX,
    waitMsMax: TURN_WAIT_MS_MAX,
    refusal: () =>
      new ServiceError(
        'rate_limit_exceeded',
        'too many changes of all users are in progress: try again in a few seconds',
        { details: { retry_after_secs: TURN_RETRY_SECS } },
      ),
  });

interface ServerOptions {
  readonly url: string;
  readonly max: number;
  readonly connectTimeoutMs: number;
}

/** The connections to one server. */
function openServer({ url, max, connectTimeoutMs }: ServerOptions, log: Log) {
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'model-gateway',
    onConnect: (client) => {
      allowLongQueries(client);
      leaveReadOnlyServer(client);
      return beginInUtc(client);
    },
  });
  const whenClosed = countConnections(pool);
  // Without a listener, an idle connection that Postgres closes would end the process.
  pool.on('error', (error) => {
    if (!pool.ending) log.warn({ error }, 'an idle database connection was lost');
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  return {
    pool,
    connection: createConnection(prisma, pool),
    async close() {
      await prisma.$disconnect();
      await pool.end();
      await withTimeout(whenClosed(), CLOSE_TIMEOUT_MS, () => undefined);
    },
  };
}

/** The pool ends before its connections do, and Postgres, stopped too early, would complain to those that are left. */
function countConnections(pool: Pool): () => Promise<void> {
  const ended = createDeferred();
  let open = 0;
  pool.on('connect', () => (open += 1));
  pool.on('remove', () => {
    open -= 1;
    if (open === 0 && pool.ending) ended.resolve();
  });
  return async () => (open === 0 ? undefined : ended.promise);
}

/**
 * Timestamps are sent without a time zone and mean UTC, whatever the zone of the server is. The pool awaits the
 * returned promise.
 */
const beginInUtc = (client: ClientBase): unknown => client.query(`SET TIME ZONE 'UTC'`);

async function ping(pool: Pool): Promise<void> {
  await withTimeout(pool.query('SELECT 1'), PING_TIMEOUT_MS, () => {
    throw new ServiceError(
      'store_unavailable',
      `the database did not answer within ${PING_TIMEOUT_MS} ms`,
    );
  }).catch((error: unknown) => {
    throw translateFailure(error);
  });
}
