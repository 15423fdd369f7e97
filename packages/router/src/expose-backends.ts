import type { Metrics } from '@model-gateway/kernel';
import type { CircuitState } from './circuits/circuit-store.ts';
import type { HealthState } from './registry/backend.ts';
import type { BackendStatus, Router } from './router.ts';

const CIRCUIT_VALUES: Readonly<Record<CircuitState, number>> = {
  closed: 0,
  'half-open': 1,
  open: 2,
};

const STATES: readonly HealthState[] = ['Healthy', 'Degraded', 'Unhealthy'];

/** How many backends get metrics of their own; more of them are only in the sums. */
const BACKENDS_SHOWN_MAX = 500;

const shown = (router: Pick<Router, 'list'>): readonly BackendStatus[] =>
  router.list().slice(0, BACKENDS_SHOWN_MAX);

/** Metrics of the backends. Operators choose their names, so there are few. */
export function exposeBackends(router: Pick<Router, 'list'>, metrics: Metrics): void {
  metrics.gauge({
    name: 'service_backends',
    isShared: true,
    help: 'Registered backends by state of health.',
    labels: ['state'],
    collect(gauge) {
      const count = (state: HealthState): number =>
        router.list().filter((routed) => routed.state === state).length;
      for (const state of STATES) gauge.set({ state }, count(state));
    },
  });
  metrics.gauge({
    name: 'service_backend_healthy',
    isShared: true,
    help: 'Whether requests are routed to a backend as far as its health goes: 1 or 0.',
    labels: ['backend'],
    collect(gauge) {
      gauge.reset();
      for (const { backend, state } of shown(router)) {
        gauge.set({ backend: backend.name }, state === 'Healthy' ? 1 : 0);
      }
    },
  });
  metrics.gauge({
    name: 'service_backend_circuit',
    isShared: true,
    help: 'The circuit of a backend: 0 closed, 1 half-open, 2 open.',
    labels: ['backend'],
    collect(gauge) {
      gauge.reset();
      for (const { backend, circuit } of shown(router)) {
        gauge.set({ backend: backend.name }, CIRCUIT_VALUES[circuit]);
      }
    },
  });
}
