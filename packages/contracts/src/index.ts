export { ERROR_CODES, ServiceError, type ErrorCode } from './errors.ts';
export { usageEventSchema, type UsageEvent } from './usage-event.ts';
