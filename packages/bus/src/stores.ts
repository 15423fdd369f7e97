import type { AdmissionStore } from '@model-gateway/billing';
import type { ByteCache, Channels, Counters, Entries, Journal, Locks } from '@model-gateway/kernel';
import type { CircuitStore, LimitStore } from '@model-gateway/router';

/** Where the shared state is served from now. */
export type BusMode = 'redis' | 'local';

/** The shared stores of one family of adapters (Redis or in-process). */
export interface SharedStores {
  readonly channels: Channels;
  readonly locks: Locks;
  readonly counters: Counters;
  readonly entries: Entries;
  readonly byteCache: ByteCache;
  readonly circuits: CircuitStore;
  readonly backendLimits: LimitStore;
  readonly admission: AdmissionStore;
  readonly journal: Journal;
  /** Rejects with a StartupError when the configured Redis or the journal's directory cannot be used. */
  start(): Promise<void>;
  /** Ends drains after the current batch, then closes everything. Closing twice is harmless. */
  close(): Promise<void>;
  /** Rejects within a second when a Redis is configured and does not reply. */
  ping(): Promise<void>;
  mode(): BusMode;
  /** Called at each switch between Redis and this process alone; the returned function stops that. */
  onModeChange(listener: (mode: BusMode) => void): () => void;
}
