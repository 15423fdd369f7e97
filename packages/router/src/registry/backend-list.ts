import type { BackendConfig } from './backend-config-store.ts';
import type { Backend, Capability } from './backend.ts';
import { NOT_PROBED, type HealthReport } from '../health/health-report.ts';

/** One registered backend in this process. */
export interface Slot {
  readonly backend: Backend;
  /** An unlisted backend gets requests like any other, but has no index and is in no listing or count. */
  readonly listed: boolean;
  /** The registration that it was built from. */
  readonly config: BackendConfig;
  /** Equal on every replica for the same registration. */
  readonly fingerprint: string;
  /** When the name was first registered; the same on every replica once the store was read. */
  registeredAt: Date;
  readonly report: HealthReport;
  readonly models: ReadonlySet<string>;
  update(report: HealthReport): void;
  can(capability: Capability, model: string): boolean;
  /** Marks that a request is being served; call the returned function when it ends. */
  use(): () => void;
  /** Resolves when no request is being served any more. */
  unused(): Promise<void>;
}

/** The backends of this process, the listed ones in registration order and the unlisted ones after them. */
export interface BackendList {
  all(): readonly Slot[];
  listed(): readonly Slot[];
  get(name: string): Slot | undefined;
  /** The position among the listed backends, or -1. */
  indexOf(name: string): number;
  /** Adds a backend at the end, or replaces one with the same name in place and returns it. */
  put(slot: Slot): Slot | undefined;
  remove(name: string): Slot | undefined;
  /** Sorts the named ones in this order; the other listed ones come after them. */
  arrange(names: readonly string[]): void;
  clear(): readonly Slot[];
}

export function createBackendList(): BackendList {
  let slots: readonly Slot[] = [];

  const byName = (name: string): Slot | undefined =>
    slots.find(({ backend }) => backend.name === name);

  function keepOrder(unordered: readonly Slot[]): void {
    slots = [...unordered.filter(({ listed }) => listed), ...unordered.filter((s) => !s.listed)];
  }

  return {
    all: () => slots,
    listed: () => slots.filter(({ listed }) => listed),
    get: byName,
    indexOf: (name) => slots.findIndex(({ backend, listed }) => listed && backend.name === name),
    put(slot) {
      const replaced = byName(slot.backend.name);
      keepOrder(
        replaced === undefined
          ? [...slots, slot]
          : slots.map((existing) => (existing === replaced ? slot : existing)),
      );
      return replaced;
    },
    remove(name) {
      const removed = byName(name);
      slots = slots.filter((slot) => slot !== removed);
      return removed;
    },
    arrange(names) {
      const first = names.flatMap((name) => byName(name) ?? []);
      keepOrder([...first, ...slots.filter((slot) => !first.includes(slot))]);
    },
    clear() {
      const cleared = slots;
      slots = [];
      return cleared;
    },
  };
}

interface SlotOptions {
  readonly listed: boolean;
  readonly config: BackendConfig;
  readonly fingerprint: string;
  readonly registeredAt: Date;
  /** The models known before the first probe. */
  readonly models: readonly string[];
}

/** A new backend: it gets no requests before its first probe. */
export function createSlot(
  backend: Backend,
  { listed, config, fingerprint, registeredAt, models: knownModels }: SlotOptions,
): Slot {
  let report: HealthReport = { ...NOT_PROBED, models: knownModels };
  let models: ReadonlySet<string> = new Set(knownModels);
  let capabilities: ReadonlySet<Capability> = new Set();
  let users = 0;
  const waiting: (() => void)[] = [];
  return {
    backend,
    listed,
    config,
    fingerprint,
    registeredAt,
    get report() {
      return report;
    },
    get models() {
      return models;
    },
    update(next) {
      report = next;
      models = new Set(next.models);
      capabilities = new Set(next.capabilities);
    },
    // A backend may know its capabilities only on the replica that probed it; the others use the report.
    can(capability, model) {
      if (!capabilities.has(capability) && !backend.capabilities().has(capability)) return false;
      return backend.serves?.(capability, model) ?? true;
    },
    use() {
      let isUser = true;
      users += 1;
      return () => {
        if (!isUser) return;
        isUser = false;
        users -= 1;
        if (users === 0) for (const resolve of waiting.splice(0)) resolve();
      };
    },
    unused: () =>
      users === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
  };
}
