import {
  describeError,
  tryParse,
  withTimeout,
  type Channels,
  type Clock,
  type Entries,
  type Log,
  type Subscription,
} from '@model-gateway/kernel';
import type { BackendList, BackendEntry } from '../registry/backend-list.ts';
import type { Backend, Probe } from '../registry/backend.ts';
import {
  HEALTH_CHANNEL,
  healthKey,
  healthMessageSchema,
  NOT_PROBED,
  sharedReportSchema,
  type HealthMessage,
  type HealthReport,
  type SharedReport,
} from './health-report.ts';

/** The health of each backend, the same on every replica. */
export interface Health {
  /** Probes one backend now and publishes the result. */
  probe(name: string): Promise<void>;
  /** Probes a backend that is not in the list; the result is not published. */
  probeOnce(backend: Backend): Promise<HealthReport>;
  /** Probes many, a few at a time. */
  probeAll(names: readonly string[]): Promise<void>;
  /**
   * Loads the health of backends that came from the store. The first ones are restored: they are probed, since what was
   * reported before the start may be outdated. Later ones were registered elsewhere: a report since the start is enough.
   */
  loadAll(names: readonly string[]): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface HealthDependencies {
  readonly list: BackendList;
  readonly channels: Channels;
  readonly entries: Entries;
  readonly clock: Clock;
  readonly log: Log;
  readonly probeTimeoutMs: number;
  /** How long a report is valid for a process that starts. */
  readonly reportKeptMs: number;
  /** Called before a backend that did not answer the last probe is Healthy again; never rejects. */
  readonly onRecovered: (name: string) => Promise<void>;
}

const PROBES_AT_ONCE_MAX = 16;

export function createHealth(dependencies: HealthDependencies): Health {
  const { list, channels, entries, clock, log, probeTimeoutMs, reportKeptMs } = dependencies;
  const { onRecovered } = dependencies;
  const startedAt = clock.now();
  let isRestored = false;
  let subscription: Subscription | undefined;

  function apply(entry: BackendEntry, report: HealthReport): void {
    const { name } = entry.backend;
    const { state, reason } = report;
    // Also the first reason of a backend that was never healthy.
    if (state !== entry.report.state || reason !== entry.report.reason) {
      log.info({ backend: name, state, reason }, 'backend health changed');
    }
    entry.update(report);
  }

  function applyShared(name: string, report: SharedReport): boolean {
    const entry = list.get(name);
    // This process may still have another registration.
    if (entry === undefined || entry.fingerprint !== report.fingerprint) return false;
    const { state, reason, checkedAt, models, capabilities } = report;
    const contextLengths = new Map(report.contextLengths);
    apply(entry, { state, reason, checkedAt, models, capabilities, contextLengths });
    return true;
  }

  async function share({ backend: { name }, fingerprint, report }: BackendEntry): Promise<void> {
    const shared: SharedReport = {
      fingerprint,
      state: report.state,
      ...(report.reason === undefined ? {} : { reason: report.reason }),
      ...(report.checkedAt === undefined ? {} : { checkedAt: report.checkedAt }),
      models: [...report.models],
      capabilities: [...report.capabilities],
      contextLengths: [...report.contextLengths],
    };
    const message: HealthMessage = { kind: 'report', name, report: shared };
    await Promise.all([
      entries.put(healthKey(name), JSON.stringify(shared), { expiresAfterMs: reportKeptMs }),
      channels.publish(HEALTH_CHANNEL, JSON.stringify(message)),
    ]);
  }

  async function probe(name: string): Promise<void> {
    const entry = list.get(name);
    if (entry === undefined) return;
    const probed = await probeWithin(entry.backend, probeTimeoutMs);
    const { state, reason, models } = probed;
    const { state: before, checkedAt: checkedBefore } = entry.report;
    const isRecovered =
      before === 'Unhealthy' && checkedBefore !== undefined && state === 'Healthy';
    if (isRecovered) await onRecovered(name);
    // The registration may have been replaced during the probe.
    if (list.get(name) !== entry) return;
    apply(entry, {
      state,
      reason,
      checkedAt: clock.now(),
      // An unhealthy backend may list fewer models: those of its last healthy probe stay known.
      models: state === 'Healthy' ? models : [...new Set([...entry.report.models, ...models])],
      capabilities: [...entry.backend.capabilities()],
      contextLengths: probed.contextLengths ?? entry.report.contextLengths,
    });
    // Other processes do not have unlisted backends.
    if (entry.listed) await share(entry).catch(reportNotShared);
  }

  function reportNotShared(error: unknown): void {
    log.error({ error }, 'publishing the health of a backend failed');
  }

  async function known(name: string): Promise<SharedReport | undefined> {
    const text = await entries.get(healthKey(name)).catch(() => undefined);
    return text === undefined ? undefined : tryParse(sharedReportSchema, text);
  }

  async function load(name: string): Promise<void> {
    const report = await known(name);
    const isRecent = report?.checkedAt !== undefined && report.checkedAt >= startedAt;
    if (!isRecent || !applyShared(name, report)) await restore(name, report);
  }

  /** Of an outdated report only the models are used: they stay known while the backend is unavailable. */
  async function restore(name: string, outdated: SharedReport | undefined): Promise<void> {
    const { state, reason, checkedAt } = NOT_PROBED;
    if (outdated !== undefined) applyShared(name, { ...outdated, state, reason, checkedAt });
    await probe(name);
  }

  return {
    probe,
    async probeOnce(backend) {
      const probed = await probeWithin(backend, probeTimeoutMs);
      return {
        state: probed.state,
        reason: probed.reason,
        checkedAt: clock.now(),
        models: probed.models,
        capabilities: [...backend.capabilities()],
        contextLengths: probed.contextLengths ?? new Map(),
      };
    },
    probeAll: (names) => forEach(names, probe),
    loadAll(names) {
      const isFirst = !isRestored;
      isRestored = true;
      return forEach(names, async (name) =>
        isFirst ? restore(name, await known(name)) : load(name),
      );
    },
    async start() {
      subscription = await channels.subscribe(HEALTH_CHANNEL, (text) => {
        const message = tryParse(healthMessageSchema, text);
        if (message?.kind === 'report') applyShared(message.name, message.report);
      });
    },
    async stop() {
      await subscription?.close();
    },
  };
}

/** Handles the names, a few at a time. */
async function forEach(
  names: readonly string[],
  work: (name: string) => Promise<void>,
): Promise<void> {
  const left = [...names];
  async function next(): Promise<void> {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await work(name);
  }
  await Promise.all(Array.from({ length: Math.min(PROBES_AT_ONCE_MAX, left.length) }, next));
}

/** No probe takes longer than this, not even one that ignores its signal. */
async function probeWithin(backend: Backend, timeoutMs: number): Promise<Probe> {
  const controller = new AbortController();
  try {
    return await withTimeout(backend.probe(controller.signal), timeoutMs, () => {
      controller.abort();
      throw new Error(`no answer within ${timeoutMs} ms`);
    });
  } catch (error) {
    return { state: 'Unhealthy', models: [], reason: describeError(error) };
  }
}
