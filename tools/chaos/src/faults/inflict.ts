import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@model-gateway/testkit';
import type { Deployment } from '../deployment/deployment.ts';
import type { Fault } from './plan.ts';

const BACK_WITHIN_MS = 180_000;
const SLOW_LINE_MS = 60;
const SLOW_UPSTREAM_MS = 1_500;

/** A fault that has begun. */
export interface Begun {
  /** Resolves when the cause is gone, immediately after a kill. */
  readonly ended: Promise<void>;
  /** Resolves when what was killed runs again. */
  readonly restarted: Promise<void>;
}

/** Makes a fault happen. */
export function inflict(deployment: Deployment, fault: Fault): Begun {
  const { begin, end } = actionsOf(deployment, fault);
  const begun = begin();
  const ended = begun.then(() => sleep(fault.seconds * 1_000));
  return {
    ended: fault.kind === 'kill' ? begun : ended.then(end),
    restarted: fault.kind === 'kill' ? begun.then(end) : ended,
  };
}

interface Actions {
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

function actionsOf(deployment: Deployment, { kind, target }: Fault): Actions {
  const app = deployment.processes.get(target);
  if (app !== undefined && kind === 'kill')
    return { begin: () => app.kill(), end: () => app.start() };
  if (app !== undefined) return { begin: async () => app.pause(), end: async () => app.resume() };
  if (target === 'left' || target === 'right')
    return disturb(deployment.upstreams[target], kind, SLOW_UPSTREAM_MS);
  if (kind !== 'kill' && kind !== 'pause' && isLine(target))
    return disturb(deployment.lines[target], kind, SLOW_LINE_MS);
  if (target === 'redis' || target === 'postgres') return endStore(deployment[target], kind);
  throw new Error(`there is no fault ${kind} ${target}`);
}

const isLine = (target: string): target is keyof Deployment['lines'] =>
  ['redis', 'postgres', 'tunnel'].includes(target);

interface Disturbable {
  cut(): void;
  slow(ms: number): void;
  restore(): void;
}

const disturb = (part: Disturbable, kind: Fault['kind'], slowMs: number): Actions => ({
  async begin() {
    if (kind === 'slow') part.slow(slowMs);
    else part.cut();
  },
  end: async () => part.restore(),
});

/** Its supervisor starts a killed store again, with its files. */
function endStore(store: { readonly pid: number }, kind: Fault['kind']): Actions {
  const { pid } = store;
  if (kind === 'pause')
    return {
      begin: async () => void process.kill(pid, 'SIGSTOP'),
      end: async () => void process.kill(pid, 'SIGCONT'),
    };
  return {
    begin: async () => void process.kill(pid, 'SIGKILL'),
    end: () => waitUntil(() => store.pid !== pid, { timeoutMs: BACK_WITHIN_MS, what: 'the store' }),
  };
}
