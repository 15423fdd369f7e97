export { createPriceBook, type PriceBook } from './prices/price-book.ts';
export { createPriceIndex, type PricedBackend, type PriceIndex } from './prices/price-index.ts';
export { priceOf } from './prices/price-of.ts';
export { PRICES_CHANNEL, type PriceStore } from './prices/price-store.ts';
export { pricePerToken } from './prices/price-per-token.ts';
export { recordOf } from './prices/price-record.ts';
export {
  billedMedia,
  costAt,
  highestCostAt,
  pricesWith,
  type BilledUsage,
  type FoundPrice,
  type Price,
  type StoredPrice,
} from './prices/prices.ts';
export { readCatalogue } from './prices/read-catalogue.ts';
export { createTokenCount, estimateTokens, type TokenCount } from './usage/token-estimate.ts';
export {
  UsageRejectedError,
  type RejectedUsage,
  type RejectedUsageStore,
} from './usage/rejected-usage-store.ts';
export type { RecordedBatch, UsagePage, UsageRecord, UsageStore } from './usage/usage-store.ts';
export type {
  AccountRefusal,
  AccountState,
  AdmissionAnswer,
  AdmissionFacts,
  AdmissionRequest,
  AdmissionStore,
  BudgetUsage,
  ReservationEnd,
  CountedRequests,
  DrawingAccount,
  KeyCounts,
  KeyLimits,
  QuotaWindow,
  ReservationRequest,
  RequestedAmounts,
  RequestLimit,
  ReservedAmounts,
  SettledReservation,
  WindowUsage,
} from './admission/admission-store.ts';
export type { BillingFacts, PayingUser, TierLimits } from './admission/billing-facts.ts';
export {
  decideAdmission,
  isRefused,
  NOTHING_RESERVED,
  withReserved,
} from './admission/admission-decision.ts';
export { BUILT_IN_TIERS, FREE_TIER, isDrained } from './admission/admission-decision.ts';
export {
  monthOf,
  monthStart,
  nextMonthStart,
  secondsToNextMonth,
  windowName,
  windowOf,
} from './admission/quota-window.ts';
export { decideBudget } from './admission/budget-decision.ts';
export { budgetResetOf, budgetWindowOf, type BudgetWindow } from './admission/budget-window.ts';
export { billingSettings } from './settings.ts';
export {
  accountOf,
  settle,
  windowOfEvent,
  type PointsMovement,
  type RefusedMember,
  type SettledAccount,
  type SettledRow,
} from './points/settlement.ts';
export {
  paysForFrames,
  videoCostOf,
  type VideoPrice,
  type VideoShape,
} from './prices/video-price.ts';
export { splitTime, type TimeRange, type TimeSpan } from './usage/time-split.ts';
export type { Allocation, LedgerEntry, LedgerReading, LedgerStore } from './points/ledger-store.ts';
export { planOf, type PlanStanding, type PlanStore, type TierChanges } from './points/plan.ts';
export type {
  UsageFilter,
  UsageFound,
  UsageGroup,
  UsageGrouping,
  UsageQueries,
  UsageSums,
  UsageWanted,
} from './usage/usage-queries.ts';
export type {
  CheckedDay,
  SpendFilter,
  SpendGroup,
  SpendGrouping,
  SpendQueries,
  SpendSums,
  SpendSumsStore,
} from './usage/spend.ts';
export type {
  KeptBodies,
  LoggedRequest,
  RequestBodies,
  RequestFilter,
  RequestLog,
  RequestLogStore,
  RequestPosition,
} from './usage/request-log.ts';
export type { VideoPricing, VideoPricingStore } from './prices/video-pricing-store.ts';
export { createAccountHints, type AccountHints } from './admission/account-hints.ts';
export { viewUsage } from './usage/view-usage.ts';
