export { createPriceBook, type PriceBook } from './price-book.ts';
export { createPriceIndex, type PricedBackend, type PriceIndex } from './price-index.ts';
export { priceOf } from './price-of.ts';
export { PRICES_CHANNEL, type PriceStore } from './price-store.ts';
export { pricePerToken } from './price-per-token.ts';
export { recordOf } from './price-record.ts';
export {
  costAt,
  highestCostAt,
  pricesWith,
  type BilledUsage,
  type FoundPrice,
  type Price,
  type StoredPrice,
} from './prices.ts';
export { readCatalogue } from './read-catalogue.ts';
export { createTokenCount, estimateTokens, type TokenCount } from './token-estimate.ts';
export {
  UsageRejectedError,
  type RejectedUsage,
  type RejectedUsageStore,
} from './rejected-usage-store.ts';
export type { RecordedBatch, UsagePage, UsageRecord, UsageStore } from './usage-store.ts';
export type {
  AccountState,
  AdmissionAnswer,
  AdmissionFacts,
  AdmissionRequest,
  AdmissionStore,
  BudgetUsage,
  CallEnd,
  CountedRequests,
  DrawingAccount,
  KeyCounts,
  KeyLimits,
  QuotaWindow,
  RequestedCall,
  RequestedReservation,
  RequestLimit,
  ReservedAmounts,
  SettledCall,
  WindowUsage,
} from './admission-store.ts';
export type { BillingFacts, TierLimits } from './billing-facts.ts';
export { decideAdmission, NOTHING_RESERVED, withReserved } from './admission-decision.ts';
export { BUILT_IN_TIERS, FREE_TIER, isDrained } from './drained-tier.ts';
export {
  monthOf,
  monthStart,
  nextMonthStart,
  secondsToNextMonth,
  windowName,
  windowOf,
} from './quota-window.ts';
export { decideBudget } from './budget-decision.ts';
export { budgetResetOf, budgetWindowOf, type BudgetWindow } from './budget-window.ts';
export { billingSettings } from './settings.ts';
export {
  accountOf,
  settle,
  windowOfEvent,
  type PointsMovement,
  type SettledAccount,
  type SettledRow,
} from './settlement.ts';
export { paysForFrames, videoCostOf, type VideoPrice, type VideoShape } from './video-price.ts';
export { splitTime, type TimeRange, type TimeSpan } from './time-split.ts';
export type { Allocation, LedgerEntry, LedgerReading, LedgerStore } from './ledger-store.ts';
export { planOf, type PlanStanding, type PlanStore, type TierChanges } from './plan.ts';
export type {
  UsageFilter,
  UsageGroup,
  UsageGrouping,
  UsageQueries,
  UsageSums,
} from './usage-queries.ts';
export type {
  CheckedDay,
  SpendFilter,
  SpendGroup,
  SpendGrouping,
  SpendQueries,
  SpendSums,
  SpendSumsStore,
} from './spend.ts';
export type {
  FailedRequest,
  KeptBodies,
  LoggedRequest,
  RequestBodies,
  RequestFilter,
  RequestLog,
  RequestLogStore,
  RequestPosition,
} from './request-log.ts';
export type { VideoPricing, VideoPricingStore } from './video-pricing-store.ts';
export { createAccountHints, type AccountHints } from './account-hints.ts';
