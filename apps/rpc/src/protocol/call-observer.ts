import { rpcMethods } from '@model-gateway/contracts';
import {
  perName,
  type CounterSeries,
  type HistogramSeries,
  type Log,
  type Metrics,
  type Tracing,
} from '@model-gateway/kernel';

interface CallObserverDependencies {
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  readonly log: Log;
}

/** An observed call. */
export interface ObservedCall {
  /** Runs the call inside its trace span. */
  run<Result>(work: () => Result): Result;
  /** Records the outcome: `ok`, or the error code that the caller gets. */
  end(code: string): void;
}

/** Records the duration and outcome of calls. */
export type CallObserver = (method: string) => ObservedCall;

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

/** Observes the calls of every transport, by the name of the method. */
export function createCallObserver({
  metrics,
  tracing,
  log,
}: CallObserverDependencies): CallObserver {
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
    help: 'RPC calls by method and outcome: ok, or the error code.',
    labels: ['method', 'code'],
  });
  const durations = metrics.histogram({
    name: 'service_rpc_call_duration_seconds',
    help: 'Duration of RPC calls in seconds.',
    labels: ['method'],
    buckets: DURATION_SECONDS,
  });
  return perName(KNOWN.size + 1, (method) => ({
    name: method,
    duration: durations.series({ method }),
    outcomes: perName(CODES_MAX, (code) => calls.series({ method, code })),
  }));
}
