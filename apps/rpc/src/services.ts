import {
  createAccounts,
  createConversations,
  createGroupRules,
  createKeys,
  createKnownAddresses,
  createLoginLimits,
  createPasswordChanges,
  createPasswords,
  createProviders,
  createRegistrationLimits,
  createUserDirectory,
  type AccountEvents,
  type Conversations,
  type SignInEnds,
} from '@model-gateway/accounts';
import { createAccountHints, type AccountHints } from '@model-gateway/billing';
import { createCheckConfigText } from '@model-gateway/config-file';
import type { DatabaseStores } from '@model-gateway/db';
import type { BodyMemory } from '@model-gateway/http';
import type { AppContext } from '@model-gateway/server-process';
import { createSystemMonitor } from '@model-gateway/inference';
import { createEntryRules, createSignIns, type ServiceRuntime } from '@model-gateway/service';
import { createResolveReceiver, createSendMail } from '@model-gateway/outbound';
import type { RouteRule } from '@model-gateway/router';
import { createWebhooks } from '@model-gateway/webhooks';
import { createAccountMails } from './account-mails.ts';
import { createAgentRules } from './agent-rules.ts';
import type { ChatStreams } from './chat/chat-streams.ts';
import type { RpcConfig } from './config.ts';
import type { RealtimeSessions } from './realtime/realtime-sessions.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { RequestWatches } from './spend/request-watches.ts';
import { createSummarizeSpend } from './spend/spend-summary.ts';

const SECOND_MS = 1_000;

/** Work that continues in this process after a call has returned, and the memory that it takes. */
interface Streams {
  readonly bodyMemory: BodyMemory;
  readonly chatStreams: ChatStreams;
  readonly realtime: RealtimeSessions;
  readonly sessions: Sessions;
  readonly requestWatches: RequestWatches;
}

/** What the methods depend on. */
export type Services = ReturnType<typeof createServices>['services'];

/** Announces a change: at once, or after the transaction that makes it. */
export type AfterCommit = (announce: () => Promise<unknown>) => Promise<void>;

/** Builds the dependencies of the methods, with the stores of this process. */
export function createServices(
  config: RpcConfig,
  context: AppContext,
  runtime: ServiceRuntime,
  { chatStreams, realtime, sessions, requestWatches, bodyMemory }: Streams,
) {
  const { database, bus, clock, log } = context;
  const { admission, channels, counters } = bus;
  const signIns = createSignIns(context, config.accessTokenTtlSecs);
  const { users, events, ends: signInEnds } = signIns;
  const conversations: Conversations = createConversations(database.conversations);
  const knownAddresses = createKnownAddresses(database.signInAddresses, clock);
  const { passwords = createPasswords() } = context;
  const loginLimits = createLoginLimits({ counters, knownAddresses, clock, log });
  const accounts = createAccounts({
    users,
    database,
    refreshTokens: database.refreshTokens,
    accessTokens: signIns.accessTokens,
    passwords,
    loginLimits,
    registrationLimits: createRegistrationLimits({
      counters,
      clock,
      log,
      perMinuteMax: config.registrationsPerMinuteMax,
      perHourMax: config.registrationsPerHourMax,
    }),
    knownAddresses,
    signInEnds,
    events,
    clock,
    log,
    registrationOpen: config.registrationOpen,
    firstAdmin: config.firstAdmin,
    refreshTokenTtlSecs: config.refreshTokenTtlSecs,
    successorSecret: context.jwtSecret,
  });
  const { pointsPerUsd, publicUrl, smtpUrl, mailFrom: from } = config;
  const sendMail = smtpUrl === undefined ? undefined : createSendMail({ smtpUrl, from });
  const fixed = {
    accounts,
    publicUrl,
    signInEnds,
    conversations,
    storedConversations: database.conversations,
    chatStreams,
    realtime,
    sessions,
    requestWatches,
    bodyMemory,
    runtime,
    usage: database.usage,
    requestLog: database.requestLog,
    pointsPerUsd,
    users,
    checkConfigText: createCheckConfigText(createEntryRules(config), database),
    agents: createAgentRules(config, context),
    resolveReceiver: createResolveReceiver({ allowPrivate: config.webhookAllowPrivate }),
    settings: config.settings ?? [],
    system: createSystemMonitor({
      agents: database.agentCounter,
      requests: runtime.requests,
      clock,
      agentTimeoutMs: config.agentTimeoutSecs * SECOND_MS,
    }),
    clock,
    log,
  };
  const facts = database.billingFacts;
  const hints: AccountHints = createAccountHints({ facts, admission, log });

  /** What changes stored data, on the stores of the database or of a transaction. */
  function changing(stores: DatabaseStores, afterCommit: AfterCommit) {
    const laterEvents: AccountEvents = {
      changed: (change) => afterCommit(() => events.changed(change)),
    };
    const laterEnds: Pick<SignInEnds, 'announce'> = {
      announce: (end) => afterCommit(() => signInEnds.announce(end)),
    };
    const groupRules = createGroupRules({
      stores,
      events: laterEvents,
      clock,
      multiplierMin: config.minMultiplier,
    });
    return {
      newAccounts: stores.users,
      passwordStore: stores.passwords,
      passwordChanges: createPasswordChanges({
        store: stores.passwords,
        users,
        passwords,
        loginLimits,
        signInEnds: laterEnds,
        clock,
      }),
      userDirectory: createUserDirectory({
        store: stores.userDirectory,
        signInEnds: laterEnds,
        events: laterEvents,
        clock,
      }),
      audit: stores.audit,
      rejectedUsage: stores.rejectedUsage,
      mails: createAccountMails({ sendMail, publicUrl, counters, afterCommit, log }),
      webhookStore: stores.webhooks,
      deliveryStore: stores.deliveries,
      webhookRules: createWebhooks({ ...stores, clock }),
      groupRules,
      spend: database.spend,
      summarizeSpend: createSummarizeSpend({
        spend: database.spend,
        groups: groupRules.access,
        clock,
      }),
      keys: createKeys({
        keys: stores.keys,
        events: laterEvents,
        clock,
        activePerUserMax: config.keysPerUserMax,
      }),
      providers: createProviders(stores.providers),
      ledger: stores.ledger,
      hints: {
        refresh: (drawing: Parameters<AccountHints['refresh']>[0]) =>
          afterCommit(() => hints.refresh(drawing)),
      },
      routeChanges: {
        async set(rule: RouteRule): Promise<void> {
          await stores.routeRules.set(rule);
          await afterCommit(() => runtime.router.routes.changed(rule.model));
        },
        async remove(model: string): Promise<boolean> {
          const wasThere = await stores.routeRules.remove(model);
          await afterCommit(() => runtime.router.routes.changed(model));
          return wasThere;
        },
      },
      plans: stores.plans,
      videoPricing: stores.videoPricing,
      prices: stores.prices,
      channels: {
        publish: (channel: string, message: string) =>
          afterCommit(() => channels.publish(channel, message)),
      },
      events: laterEvents,
    };
  }

  return {
    services: { ...fixed, ...changing(database, async (announce) => void (await announce())) },
    within: (stores: DatabaseStores, afterCommit: AfterCommit) => ({
      ...fixed,
      ...changing(stores, afterCommit),
    }),
  };
}
