import { ServiceError } from '@model-gateway/contracts';
import { describeError, type Log } from '@model-gateway/kernel';
import type { Backend, HealthState, Probe } from './backend.ts';
import { matchModel } from './model-match.ts';

/** A backend as the router knows it now. */
export interface RoutedBackend {
  readonly backend: Backend;
  /** An unlisted backend is routed to like any other, but has no index and appears in no listing or count. */
  readonly listed: boolean;
  readonly state: HealthState;
  readonly reason: string | undefined;
  /** The last known models; they stay known while the backend is away. */
  readonly models: readonly string[];
}

/** Where a request goes. */
export interface Route {
  readonly backend: Backend;
  /** The model id as the chosen backend lists it. */
  readonly model: string;
}

/** Knows every backend and chooses one per request, in memory. */
export interface Router {
  /** Adds a backend, not routable until its first probe succeeds; the same name replaces the earlier one in place. */
  register(backend: Backend, options: { readonly listed: boolean }): Promise<void>;
  /** Probes one backend now. */
  probe(name: string): Promise<void>;
  choose(model: string, options?: { readonly provider?: string | undefined }): Route;
  /** The listed backends in registration order. */
  list(): readonly RoutedBackend[];
  close(): Promise<void>;
}

interface RouterOptions {
  readonly log: Log;
  readonly probeTimeoutMs: number;
}

interface Entry {
  backend: Backend;
  listed: boolean;
  state: HealthState;
  reason: string | undefined;
  models: readonly string[];
  requests: number;
}

export function createRouter({ log, probeTimeoutMs }: RouterOptions): Router {
  const entries: Entry[] = [];

  async function probe(name: string): Promise<void> {
    const entry = entries.find(({ backend }) => backend.name === name);
    if (entry === undefined) return;
    const { backend } = entry;
    const result = await probeWithin(backend, probeTimeoutMs);
    // The registration may have been replaced while the probe was under way.
    if (entry.backend !== backend) return;
    if (result.state !== entry.state) {
      log.info(
        { backend: name, state: result.state, reason: result.reason },
        'backend health changed',
      );
    }
    entry.state = result.state;
    entry.reason = result.reason;
    if (result.models.length > 0) entry.models = result.models;
  }

  return {
    async register(backend, { listed }) {
      const fresh: Entry = {
        backend,
        listed,
        state: 'Unhealthy',
        reason: 'not probed yet',
        models: [],
        requests: 0,
      };
      const position = entries.findIndex((entry) => entry.backend.name === backend.name);
      const replaced = entries[position];
      if (replaced === undefined) entries.push(fresh);
      else entries[position] = fresh;
      await replaced?.backend.close();
    },
    probe,
    choose: (model, options) => chooseRoute(entries, model, options?.provider),
    list: () => entries.filter(({ listed }) => listed),
    async close() {
      await Promise.all(entries.splice(0).map(({ backend }) => backend.close()));
    },
  };
}

async function probeWithin(backend: Backend, timeoutMs: number): Promise<Probe> {
  try {
    return await backend.probe(AbortSignal.timeout(timeoutMs));
  } catch (error) {
    return { state: 'Unhealthy', models: [], reason: describeError(error) };
  }
}

function chooseRoute(
  entries: readonly Entry[],
  requested: string,
  provider: string | undefined,
): Route {
  const serving = entries
    .filter(({ backend }) => provider === undefined || isProvider(backend, provider))
    .flatMap((entry) => {
      const model = matchModel(requested, entry.models);
      return model === undefined ? [] : [{ entry, model }];
    });
  if (serving.length === 0) {
    throw new ServiceError('model_not_found', `No backend available for model: ${requested}`);
  }
  const [first, ...others] = serving.filter(({ entry }) => entry.state === 'Healthy');
  if (first === undefined)
    throw new ServiceError('all_backends_unhealthy', 'all backends unhealthy');
  const chosen = others.reduce(
    (best, candidate) => (candidate.entry.requests < best.entry.requests ? candidate : best),
    first,
  );
  chosen.entry.requests += 1;
  return { backend: chosen.entry.backend, model: chosen.model };
}

function isProvider(backend: Backend, provider: string): boolean {
  const wanted = provider.toLowerCase();
  return backend.name.toLowerCase() === wanted || backend.kind.toLowerCase() === wanted;
}
