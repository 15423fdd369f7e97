import type { KeptBodies, RequestLogStore } from '@model-gateway/billing';
import type { FailedRequest, RequestAttempt } from '@model-gateway/contracts';
import {
  describeError,
  newTimedId,
  withTimeout,
  type Clock,
  type Journal,
  type Log,
  type Metrics,
  type Part,
} from '@model-gateway/kernel';
import type { Caller } from '../chat/caller.ts';
import { attemptsOf, type RequestTrace } from './request-trace.ts';

/** A request that was refused or failed before anything was metered. */
export interface FailedCall {
  readonly caller: Caller;
  readonly surface: string;
  /** As the client named it; undefined where it could not be read. */
  readonly model: string | undefined;
  readonly refId: string | null;
  readonly trace: RequestTrace | undefined;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number | undefined;
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/**
 * Writes the part of the request log that is not billed: failed requests to the usage journal, bodies to their store. A caller waits
 * for nothing, and under pressure entries are dropped.
 */
export interface RequestLogWriter extends Part {
  failed(call: FailedCall): void;
  keepBodies(bodies: KeptBodies): void;
}

interface WriterDependencies {
  /** Where failed requests go: the recorder stores and counts them. */
  readonly journal: Pick<Journal, 'append'>;
  readonly store: Pick<RequestLogStore, 'addBodies'>;
  /** The name under which backends list a model; undefined if none does. */
  readonly servedName: (model: string) => string | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly writeEveryMs?: number;
}

const WRITE_EVERY_MS = 1_000;
const STOP_TIMEOUT_MS = 5_000;
const FAILURES_MAX = 2_000;
/** So many failures that are alike get rows of their own in one write; the others share one. */
const ALIKE_MAX = 5;
const BODIES_CHARS_MAX = 16 * 1024 * 1024;
/** Of one journal entry: recorders read thousands at once. */
const ENTRY_CHARS_MAX = 64 * 1024;
const MODEL_CHARS_MAX = 128;
const MESSAGE_CHARS_MAX = 1_000;

type Pending = Omit<FailedRequest, 'repeats'> & { repeats: number };

export function createRequestLogWriter(dependencies: WriterDependencies): RequestLogWriter {
  const { journal, store, servedName, clock, metrics, log } = dependencies;
  const { writeEveryMs = WRITE_EVERY_MS } = dependencies;
  let failures: Pending[] = [];
  let alike = new Map<string, { count: number; shared: Pending | undefined }>();
  let bodies: KeptBodies[] = [];
  let bodyChars = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  const dropped = metrics
    .counter({
      name: 'service_request_log_dropped_total',
      help: 'Entries of the request log that were not written, because there were too many, or the journal or Postgres was away.',
    })
    .series({});

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void write();
    }, writeEveryMs).unref();
  }

  const drop =
    (count: number) =>
    (error: unknown): void => {
      dropped.inc(count);
      log.warn({ reason: describeError(error) }, 'writing the request log failed');
    };

  async function writeAll(): Promise<void> {
    const [rows, kept] = [failures, bodies];
    failures = [];
    alike = new Map();
    bodies = [];
    bodyChars = 0;
    for (const part of partsOf(rows)) {
      const body = JSON.stringify({ kind: 'failures', failures: part });
      await journal
        .append({ id: newTimedId(), body })
        .catch(drop(part.reduce((sum, { repeats }) => sum + repeats, 0)));
    }
    if (kept.length > 0) await store.addBodies(kept).catch(drop(kept.length));
  }

  /** One write at a time; what arrives meanwhile is written by the next one. */
  function write(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined;
      if (failures.length > 0 || bodies.length > 0) schedule();
    });
    return writing;
  }

  /** Built only for a call that gets a row of its own. */
  function rowOf(
    call: FailedCall,
    model: string | undefined,
    upstream: RequestAttempt | undefined,
  ) {
    const { caller, surface, trace, refId, startedAt, status, code, message } = call;
    const counted = upstream?.model ?? (model === undefined ? undefined : servedName(model));
    return {
      id: trace?.id ?? newTimedId(),
      createdAt: new Date(clock.now()),
      userId: caller.userId,
      keyId: caller.keyId,
      groupId: caller.groupId,
      apiKeyId: caller.apiKeyId,
      project: caller.project,
      backend: surface,
      // As in the rows of served requests, the model that was asked, and not an alias of it.
      model: counted?.slice(0, MODEL_CHARS_MAX) ?? model ?? null,
      countedModel: counted?.slice(0, MODEL_CHARS_MAX) ?? '',
      upstream: upstream?.backend ?? null,
      refId,
      latencyMs:
        startedAt === undefined ? null : Math.max(0, Math.round(performance.now() - startedAt)),
      status,
      errorCode: code,
      error: message.slice(0, MESSAGE_CHARS_MAX),
      requestId: trace?.clientId ?? null,
      attempts: (trace && attemptsOf(trace)) ?? null,
      repeats: 1,
    };
  }

  function add(call: FailedCall): void {
    const { caller, trace, status, code } = call;
    const upstream = trace?.attempts?.findLast(({ outcome }) => outcome !== 'skipped');
    const model = call.model?.slice(0, MODEL_CHARS_MAX);
    const key = [caller.userId, caller.keyId, status, code, upstream?.backend, model].join();
    const known = alike.get(key);
    if (known?.shared !== undefined) {
      known.shared.repeats += 1;
      return;
    }
    if (failures.length >= FAILURES_MAX) {
      dropped.inc();
      return;
    }
    const row = rowOf(call, model, upstream);
    const count = (known?.count ?? 0) + 1;
    alike.set(key, { count, shared: count > ALIKE_MAX ? row : undefined });
    failures.push(row);
    schedule();
  }

  return {
    name: 'request-log-writer',
    async start() {},
    async stop() {
      clearTimeout(timer);
      await writing;
      await withTimeout(write(), STOP_TIMEOUT_MS).catch(() => undefined);
    },
    failed(call) {
      const { trace } = call;
      if (trace?.isRecorded === true) return;
      if (trace !== undefined) trace.isRecorded = true;
      add(call);
    },
    keepBodies(kept) {
      const chars = (kept.request?.length ?? 0) + (kept.answer?.length ?? 0);
      if (bodyChars + chars > BODIES_CHARS_MAX) {
        dropped.inc();
        return;
      }
      bodyChars += chars;
      bodies.push(kept);
      schedule();
    },
  };
}

/** As many rows together as fit into an entry. */
function partsOf(rows: readonly Pending[]): readonly (readonly Pending[])[] {
  const parts: Pending[][] = [];
  let chars = ENTRY_CHARS_MAX;
  for (const row of rows) {
    const rowChars = JSON.stringify(row).length;
    chars += rowChars;
    if (chars > ENTRY_CHARS_MAX) {
      parts.push([]);
      chars = rowChars;
    }
    parts.at(-1)?.push(row);
  }
  return parts;
}
