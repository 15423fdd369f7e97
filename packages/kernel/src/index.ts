export {
  abortReason,
  createCanceller,
  raceAbort,
  untilAborted,
  type Cancel,
  type Canceller,
} from './cancel.ts';
export { manualClock, systemClock, type Clock, type ManualClock } from './clock.ts';
export {
  decimal,
  effectiveSettings,
  flag,
  integer,
  list,
  loadConfig,
  oneOf,
  optional,
  setting,
  text,
  urlWith,
  withDefault,
  type ConfigOf,
  type EffectiveSetting,
  type Environment,
  type Setting,
} from './config.ts';
export { createDeferred } from './deferred.ts';
export { AppError, describeError, errorCode, isError, StartupError } from './errors.ts';
export { freePort } from './free-port.ts';
export { constantTimeEqual, newId, randomToken, sha256Hex } from './ids.ts';
export { generatedSecret } from './generated-secret.ts';
export { SYSTEM_ENVIRONMENT, startGuarded, type GuardedProcess } from './guarded-process.ts';
export {
  createJsonMeter,
  isCheapJson,
  METERED_BYTES_MIN,
  STEPS_COST_MAX,
  type JsonMeter,
} from './json-meter.ts';
export { createLifecycle, type Lifecycle, type Part } from './lifecycle.ts';
export {
  createLog,
  LOG_LEVELS,
  silentLog,
  type Log,
  type LogLevel,
  type RequestLine,
} from './log.ts';
export { makeDirectory } from './make-directory.ts';
export type { CounterSeries, HistogramSeries } from './metric-families.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { startPeerTimeout, type PeerTimeout } from './peer-timeout.ts';
export { perName } from './per-name.ts';
export type { ByteCache } from './ports/byte-cache.ts';
export type { Channels, Subscription } from './ports/channels.ts';
export type { Counters } from './ports/counters.ts';
export type { Entries, EntryOptions } from './ports/entries.ts';
export type { Journal, JournalEntry } from './ports/journal.ts';
export type { Lock, Locks } from './ports/locks.ts';
export { RequestError, type Requests } from './ports/requests.ts';
export type { Span, SpanAttributes, SpanStart, Tracing } from './ports/tracing.ts';
export { runProcess } from './process.ts';
export { isDiskFull, STARTUP_PROBLEMS, startupError, unwritableError } from './startup-problems.ts';
export { createSequence, type Sequence } from './sequence.ts';
export { isNestedTooDeeply, tryParse, tryParseJson } from './try-parse.ts';
export { withTimeout } from './with-timeout.ts';
export { decodeInSteps } from './decode-in-steps.ts';
export { parseJsonInSteps } from './parse-json-in-steps.ts';
export { createInnerJson, type ParseInnerJson } from './inner-json.ts';
export { createStepPauses } from './step-pauses.ts';
export { yieldToEventLoop } from './yield-to-event-loop.ts';
