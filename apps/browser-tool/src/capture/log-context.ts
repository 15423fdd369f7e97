import type { Clock } from '@model-gateway/kernel';
import type { ByteBudget } from './byte-budget.ts';
import type { EventHub } from './event-hub.ts';

/** What every log of a session uses. */
export interface LogContext {
  /** One sequence of numbers for all logs, so that callers can merge their entries. */
  readonly next: () => number;
  readonly clock: Clock;
  readonly events: EventHub;
  /** What all logs together may store. */
  readonly budget: ByteBudget;
}
