import type { AdmissionFacts, AdmissionStore } from '@model-gateway/billing';
import {
  createMetrics,
  type Channels,
  type Lifecycle,
  type Log,
  type Metrics,
} from '@model-gateway/kernel';
import { createRecorder, haltedEvent } from '@model-gateway/recorder';
import {
  openStores,
  type Calls,
  type ChildBegin,
  type ProcessLink,
  type StoresConfig,
} from '@model-gateway/server-process';

/** What the recorder is told when it begins. */
export interface RecorderBegin extends ChildBegin {
  readonly role: 'recorder';
  readonly stores: StoresConfig;
  readonly pointsPerUsd: number;
}

/** What the recorder asks of the process that started it. */
export interface RecorderAsks extends Calls {
  readonly updateHints: (facts: AdmissionFacts) => Promise<void>;
  readonly publish: (message: readonly [channel: string, text: string]) => Promise<number>;
}

/** Serves what the recorder asks, from the stores that it has no access to: those inside this process. */
export const serveRecorder = (bus: {
  readonly admission: Pick<AdmissionStore, 'updateHints'>;
  readonly channels: Pick<Channels, 'publish'>;
}): RecorderAsks => ({
  updateHints: (facts) => bus.admission.updateHints(facts),
  publish: ([channel, text]) => bus.channels.publish(channel, text),
});

/** Opens the usage recorder in a process of its own, so that settlement does not delay requests. */
export async function openRecorder(
  { stores, pointsPerUsd }: RecorderBegin,
  {
    parent,
    lifecycle,
    log,
  }: {
    readonly parent: ProcessLink<RecorderAsks>;
    readonly lifecycle: Lifecycle;
    readonly log: Log;
  },
): Promise<Metrics> {
  const metrics = createMetrics({ ofProcess: false });
  const { database, bus } = await openStores(stores, lifecycle, log);
  const recorder = createRecorder({
    journal: bus.journal,
    usage: database.usage,
    rejectedUsage: database.rejectedUsage,
    admission: { updateHints: (facts) => parent.call('updateHints', facts) },
    channels: { publish: (channel, text) => parent.call('publish', [channel, text]) },
    onHalted: (halted) => database.outbox.add(haltedEvent(halted)),
    pointsPerUsd,
    metrics,
    log,
  });
  await lifecycle.start(recorder);
  return metrics;
}
