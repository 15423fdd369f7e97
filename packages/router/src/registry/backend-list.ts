import type { BackendConfig } from './backend-config-store.ts';
import type { Backend, Capability } from './backend.ts';
import { createTargets, type Targets } from './targets.ts';
import { NOT_PROBED, type HealthReport } from '../health/health-report.ts';

/** One registered backend in this process. */
export interface BackendEntry {
  readonly backend: Backend;
  /** What its requests are sent to. */
  readonly targets: Targets;
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
  /** Whether the upstream said, since its last probe, that it does not have the model that it lists. Known to this process alone. */
  lacks(model: string): boolean;
  noteLacking(model: string): void;
  update(report: HealthReport): void;
  can(capability: Capability, model: string): boolean;
  /** Marks that a request is being served; call the returned function when it ends. */
  use(): () => void;
  /** Resolves when no request is being served any more. */
  unused(): Promise<void>;
}

/** The backends of this process, the listed ones in registration order and the unlisted ones after them. */
export interface BackendList {
  all(): readonly BackendEntry[];
  listed(): readonly BackendEntry[];
  get(name: string): BackendEntry | undefined;
  /** The position among the listed backends, or -1. */
  indexOf(name: string): number;
  /** Adds a backend at the end, or replaces one with the same name in place and returns it. */
  put(entry: BackendEntry): BackendEntry | undefined;
  remove(name: string): BackendEntry | undefined;
  /** Sorts the named ones in this order; the other listed ones come after them. */
  arrange(names: readonly string[]): void;
  clear(): readonly BackendEntry[];
}

export function createBackendList(): BackendList {
  let entries: readonly BackendEntry[] = [];

  const byName = (name: string): BackendEntry | undefined =>
    entries.find(({ backend }) => backend.name === name);

  function keepOrder(unordered: readonly BackendEntry[]): void {
    entries = [
      ...unordered.filter(({ listed }) => listed),
      ...unordered.filter((one) => !one.listed),
    ];
  }

  return {
    all: () => entries,
    listed: () => entries.filter(({ listed }) => listed),
    get: byName,
    indexOf: (name) => entries.findIndex(({ backend, listed }) => listed && backend.name === name),
    put(entry) {
      const replaced = byName(entry.backend.name);
      keepOrder(
        replaced === undefined
          ? [...entries, entry]
          : entries.map((existing) => (existing === replaced ? entry : existing)),
      );
      return replaced;
    },
    remove(name) {
      const removed = byName(name);
      entries = entries.filter((entry) => entry !== removed);
      return removed;
    },
    arrange(names) {
      const first = names.flatMap((name) => byName(name) ?? []);
      keepOrder([...first, ...entries.filter((entry) => !first.includes(entry))]);
    },
    clear() {
      const cleared = entries;
      entries = [];
      return cleared;
    },
  };
}

interface EntryOptions {
  readonly listed: boolean;
  readonly config: BackendConfig;
  readonly fingerprint: string;
  readonly registeredAt: Date;
  /** The models known before the first probe. */
  readonly models: readonly string[];
}

/** A new backend: it gets no requests before its first probe. */
export function createBackendEntry(
  backend: Backend,
  { listed, config, fingerprint, registeredAt, models: knownModels }: EntryOptions,
): BackendEntry {
  let report: HealthReport = { ...NOT_PROBED, models: knownModels };
  let models: ReadonlySet<string> = new Set(knownModels);
  let capabilities: ReadonlySet<Capability> = new Set();
  const lacking = new Set<string>();
  let users = 0;
  const waiting: (() => void)[] = [];
  return {
    backend,
    targets: createTargets(backend),
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
    lacks: (model) => lacking.has(model),
    noteLacking: (model) => void lacking.add(model),
    update(next) {
      lacking.clear();
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
