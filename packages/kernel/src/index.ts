export { abortReason, raceAbort, untilAborted } from './async/abort-signal.ts';
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
  timerMs,
  timerSecs,
  urlWith,
  withDefault,
  type ConfigOf,
  type EffectiveSetting,
  type Environment,
  type Setting,
} from './config/config.ts';
export { unknownSettings, type UnknownSetting } from './config/unknown-settings.ts';
export { createDeferred } from './async/deferred.ts';
export { AppError } from './errors/app-error.ts';
export { describeError, errorCode, isError, StartupError } from './errors/errors.ts';
export { freePort } from './processes/free-port.ts';
export { constantTimeEqual, newId, newTimedId, randomToken, sha256Hex } from './ids.ts';
export { generatedSecret } from './config/generated-secret.ts';
export {
  SYSTEM_ENVIRONMENT,
  startGuarded,
  type GuardedProcess,
} from './processes/guarded-process.ts';
export {
  createJsonMeter,
  isCheapJson,
  JSON_COST_MAX,
  METERED_BYTES_MIN,
  type JsonMeter,
} from './json/json-meter.ts';
export { createLifecycle, type Lifecycle, type Part } from './processes/lifecycle.ts';
export {
  createLog,
  LOG_LEVELS,
  silentLog,
  type Log,
  type LogLevel,
  type RequestLine,
} from './log/log.ts';
export { isExecutable, isFile, whyNotExecutable } from './processes/file-checks.ts';
export { makeDirectory } from './processes/make-directory.ts';
export type { CounterSeries, HistogramSeries } from './metrics/metric-families.ts';
export { createMetrics, type Metrics } from './metrics/metrics.ts';
export { mergeEnded, mergeMetrics, type MetricsSnapshot } from './metrics/merge-metrics.ts';
export { abortAfter } from './async/abort-after.ts';
export { startPeerTimeout, type PeerTimeout } from './async/peer-timeout.ts';
export { perName } from './metrics/per-name.ts';
export type { ByteCache } from './ports/byte-cache.ts';
export type { Channels, Subscription } from './ports/channels.ts';
export type { Counters } from './ports/counters.ts';
export type { Entries } from './ports/entries.ts';
export type { Journal, JournalEntry } from './ports/journal.ts';
export type { Lock, Locks } from './ports/locks.ts';
export { isUnreachable, RequestError, type Requests } from './ports/requests.ts';
export type { Span, SpanAttributes, SpanStart, Tracing } from './ports/tracing.ts';
export { runProcess } from './processes/process.ts';
export {
  isDiskFull,
  STARTUP_PROBLEMS,
  startupError,
  unwritableError,
} from './errors/startup-problems.ts';
export { createByteSemaphore, type ByteSemaphore, type ByteShare } from './async/byte-semaphore.ts';
export { isFairShare } from './async/fair-share.ts';
export { createFairQueue, type FairQueue } from './async/fair-queue.ts';
export { END_OF_BODY_MS_MAX, readToEnd } from './async/read-to-end.ts';
export { createSequence, type Sequence } from './async/sequence.ts';
export { createStoreReader, type StoreReader } from './async/store-reader.ts';
export { isNestedTooDeeply, tryParse, tryParseJson } from './json/try-parse.ts';
export { compact, elementSources, memberSource } from './json/json-source.ts';
export { hasTooManyNumbers, tryParseExactJson, withWrittenNumbers } from './json/exact-json.ts';
export { numberOf, WrittenNumber } from './json/written-number.ts';
export { withTimeout } from './async/with-timeout.ts';
export { canonicalJson } from './json/canonical-json.ts';
export { createInnerJson, type ParseInnerJson } from './json/inner-json.ts';
export { createStepPauses } from './json/step-pauses.ts';
export { yieldToEventLoop } from './async/yield-to-event-loop.ts';
