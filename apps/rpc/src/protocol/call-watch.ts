import { rpcMethods } from '@model-gateway/contracts';
import {
  perName,
  type CounterSeries,
  type HistogramSeries,
  type Log,
  type Metrics,
  type Tracing,
} from '@model-gateway/kernel';

interface CallWatchDependencies {
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  readonly log: Log;
}

/** A call that is watched. */
export interface WatchedCall {
  /** Makes the call, so that what it does belongs to its trace. */
  run<Result>(work: () => Result): Result;
  /** How it ended: `ok`, or the code of the error that its caller is told. */
  end(code: string): void;
}

/** Sees how long calls take and how they end. */
export type CallWatch = (method: string) => WatchedCall;

interface MethodCounts {
  readonly name: string;
  readonly duration: HistogramSeries;
  readonly outcomes: (code: string) => CounterSeries;
}

const OTHER = 'other';
const CODES_MAX = 50;
const MS_PER_SECOND = 1_000;
const DURATION_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 30];
const KNOWN: ReadonlySet<string> = new Set([...Object.keys(rpcMethods), 'rpc.discover']);

/** Watches the calls of every transport, under the names of the methods that there are. */
export function createCallWatch({ metrics, tracing, log }: CallWatchDependencies): CallWatch {
  const countsOf = createCounts(metrics);
  return (method) => {
    const { name, duration, outcomes } = countsOf(KNOWN.has(method) ? method : OTHER);
    const startedAt = performance.now();
    const span = tracing?.begin({
      name,
      kind: 'internal',
      attributes: { 'rpc.system.name': 'jsonrpc', 'rpc.method': name },
    });
    return {
      run: (work) => (span === undefined ? work() : span.run(work)),
      end(code) {
        const durationMs = performance.now() - startedAt;
        duration.observe(durationMs / MS_PER_SECOND);
        outcomes(code).inc();
        if (code === 'ok') span?.end();
        else span?.end(code);
        log.debug({ method: name, code, duration_ms: durationMs }, 'rpc call');
      },
    };
  };
}

function createCounts(metrics: Metrics): (method: string) => MethodCounts {
  const calls = metrics.counter({
    name: 'service_rpc_calls_total',
    help: 'Calls of the management plane by method and outcome: ok, or the code of the error.',
    labels: ['method', 'code'],
  });
  const durations = metrics.histogram({
    name: 'service_rpc_call_duration_seconds',
    help: 'How long calls of the management plane took.',
    labels: ['method'],
    buckets: DURATION_SECONDS,
  });
  return perName(KNOWN.size + 1, (method) => ({
    name: method,
    duration: durations.series({ method }),
    outcomes: perName(CODES_MAX, (code) => calls.series({ method, code })),
  }));
}
