export { costOf } from './prices.ts';
export { estimateTokens } from './token-estimate.ts';
export type { UsagePage, UsageRecord, UsageStore } from './usage-store.ts';
