import { pick, randomFrom, type Random } from '@model-gateway/testkit';

/** What happens to one part of the deployment. */
export interface Fault {
  readonly kind: 'kill' | 'pause' | 'cut' | 'slow';
  /** A process, `redis`, `postgres`, `tunnel` for the line of the node, or an upstream. */
  readonly target: string;
  /** How long it lasts; a killed part is started again at once. */
  readonly seconds: number;
}

const PROCESSES = [
  'gateway-1',
  'gateway-2',
  'rpc-1',
  'rpc-2',
  'worker-1',
  'worker-2',
  'tunnel-1',
  'node',
];
const STORES = ['redis', 'postgres'];
const UPSTREAMS = ['left', 'right'];
const TARGETS: Readonly<Record<Fault['kind'], readonly string[]>> = {
  kill: [...PROCESSES, ...STORES],
  pause: [...PROCESSES, 'redis'],
  cut: [...STORES, 'tunnel', ...UPSTREAMS],
  slow: [...STORES, 'tunnel', ...UPSTREAMS],
};
const KINDS = Object.keys(TARGETS) as Fault['kind'][];
const SECONDS_MIN = 2;
const SECONDS_MAX = 6;
/** The rest of a plan, in which two faults happen at once. */
const SINGLE_SHARE = 2 / 3;

/** Every fault that there is. */
const ALL = KINDS.flatMap((kind) => TARGETS[kind].map((target) => ({ kind, target })));

/** The steps of a run, the same ones for the same seed: single faults first, then two at once. */
export function planOf(seed: number, steps: number): readonly (readonly Fault[])[] {
  const random = randomFrom(seed);
  const singles = shuffled(random);
  return Array.from({ length: steps }, (_, step) => {
    const first = withSeconds(random, singles[step % singles.length] ?? pick(random, ALL));
    if (step < steps * SINGLE_SHARE) return [first];
    const others = ALL.filter(({ target }) => target !== first.target);
    return [first, withSeconds(random, pick(random, others))];
  });
}

/** Long outages of the stores, each and both at once, and then the end of those who record. */
export function outagesOf(seconds: number): readonly (readonly Fault[])[] {
  const outages = STORES.map((target): Fault => ({ kind: 'cut', target, seconds }));
  const recorders = ['worker-1', 'worker-2'].map((target): Fault => ({
    kind: 'kill',
    target,
    seconds: 0,
  }));
  return [...outages.map((fault) => [fault]), outages, recorders, ...recorders.map((one) => [one])];
}

export const describeFaults = (faults: readonly Fault[]): string =>
  faults
    .map(({ kind, target, seconds }) =>
      kind === 'kill' ? `kill ${target}` : `${kind} ${target} ${seconds} s`,
    )
    .join(' and ');

type Unplanned = Omit<Fault, 'seconds'>;

function withSeconds(random: Random, fault: Unplanned): Fault {
  const seconds = SECONDS_MIN + Math.round(random() * (SECONDS_MAX - SECONDS_MIN));
  return { ...fault, seconds: fault.kind === 'kill' ? 0 : seconds };
}

function shuffled(random: Random): readonly Unplanned[] {
  return ALL.map((fault) => ({ fault, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ fault }) => fault);
}
