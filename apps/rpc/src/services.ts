import {
  createAccessTokens,
  createAccountChanges,
  createAccountEvents,
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
  createCachedUsers,
  createSignInEnds,
  createUserDirectory,
  type AccountEvents,
  type CachedUsers,
  type Conversations,
} from '@model-gateway/accounts';
import { createAccountHints, type AccountHints } from '@model-gateway/billing';
import type { AppContext } from '@model-gateway/server-process';
import { createSystemMonitor } from '@model-gateway/inference';
import type { InferenceRuntime } from '@model-gateway/inference-runtime';
import { createAgentRules } from './agent-rules.ts';
import type { ChatStreams } from './chat/chat-streams.ts';
import type { RpcConfig } from './config.ts';
import type { RealtimeSessions } from './realtime/realtime-sessions.ts';
import type { Sessions } from './sessions/sessions.ts';
import { createSummarizeSpend } from './spend/spend-summary.ts';

const SECOND_MS = 1_000;

/** Work that continues in this process after a call has returned. */
interface Streams {
  readonly chatStreams: ChatStreams;
  readonly realtime: RealtimeSessions;
  readonly sessions: Sessions;
}

/** What the methods depend on. */
export type Services = ReturnType<typeof createServices>;

/** Builds the dependencies of the methods, with the stores of this process. */
export function createServices(
  config: RpcConfig,
  context: AppContext,
  runtime: InferenceRuntime,
  { chatStreams, realtime, sessions }: Streams,
) {
  const { database, bus, clock, log } = context;
  const users: CachedUsers = createCachedUsers(database.users, clock);
  const { admission, channels, counters } = bus;
  const events: AccountEvents = createAccountEvents({ channels, counters, log });
  const signInEnds = createSignInEnds({
    changes: createAccountChanges({ channels, counters, log }),
    events,
  });
  signInEnds.onEnd((end) => {
    if (end.kind === 'user-deactivated') users.forget(end.userId);
  });
  const conversations: Conversations = createConversations(database.conversations);
  const knownAddresses = createKnownAddresses(database.signInAddresses, clock);
  const passwords = createPasswords();
  const loginLimits = createLoginLimits({ counters, knownAddresses, clock, log });
  const accounts = createAccounts({
    users,
    refreshTokens: database.refreshTokens,
    accessTokens: createAccessTokens({
      secret: context.jwtSecret,
      expiresInSecs: config.accessTokenTtlSecs,
      clock,
    }),
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
    clock,
    log,
    registrationOpen: config.registrationOpen,
    firstAdmin: config.firstAdmin,
    refreshTokenTtlSecs: config.refreshTokenTtlSecs,
    successorSecret: context.jwtSecret,
  });
  const facts = database.billingFacts;
  const hints: AccountHints = createAccountHints({ facts, admission, log });
  const groupRules = createGroupRules({
    stores: database,
    events,
    clock,
    multiplierMin: config.minMultiplier,
  });
  return {
    accounts,
    passwordChanges: createPasswordChanges({
      store: database.passwords,
      users,
      passwords,
      loginLimits,
      signInEnds,
      clock,
    }),
    userDirectory: createUserDirectory({
      store: database.userDirectory,
      signInEnds,
      events,
      clock,
    }),
    publicUrl: config.publicUrl,
    signInEnds,
    groupRules,
    keys: createKeys({
      keys: database.keys,
      memberships: database.memberships,
      events,
      clock,
      activePerUserMax: config.keysPerUserMax,
    }),
    providers: createProviders(database.providers),
    conversations,
    chatStreams,
    realtime,
    sessions,
    runtime,
    usage: database.usage,
    requestLog: database.requestLog,
    summarizeSpend: createSummarizeSpend({
      spend: database.spend,
      groups: groupRules.access,
      clock,
    }),
    ledger: database.ledger,
    hints,
    plans: database.plans,
    videoPricing: database.videoPricing,
    prices: database.prices,
    channels,
    events,
    pointsPerUsd: config.pointsPerUsd,
    users,
    agents: createAgentRules(config, context),
    system: createSystemMonitor({
      agents: database.agentCounter,
      requests: runtime.requests,
      clock,
      agentTimeoutMs: config.agentTimeoutSecs * SECOND_MS,
    }),
    clock,
    log,
  };
}
