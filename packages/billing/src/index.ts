export type { UsagePage, UsageRecord, UsageStore } from './usage-store.ts';
