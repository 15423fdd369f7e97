import type { Differences } from '../books/check-books.ts';
import type { Deployment } from '../deployment/deployment.ts';
import { recovered } from '../faults/recovery.ts';
import type { LoadKind, Sent } from '../load/outcome.ts';
import { startLoad } from '../load/run-load.ts';
import { settle } from './settle.ts';

/** What a rolling restart found. */
export interface RollingResult {
  readonly sent: readonly Sent[];
  /** Requests without a stream that failed, although clients were sent only to ready processes. */
  readonly failed: readonly Sent[];
  readonly restarted: readonly string[];
  readonly differences: Differences;
  readonly problems: readonly string[];
  /** The errors that processes logged. */
  readonly errors: readonly string[];
}

interface RollingOptions {
  readonly deployment: Deployment;
  readonly seed: number;
  readonly clients: number;
  readonly thinkMsMax: number;
  readonly onStep?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** A node is one machine: while its daemon restarts, its model is not there. */
const NOT_REPLICATED = new Set(['node']);
const WHOLE: ReadonlySet<LoadKind> = new Set(['chat', 'embeddings', 'rpc-call', 'points', 'video']);

/**
 * Restarts every replicated process in turn, under load, as a deployment does: SIGTERM, end, start, ready. Then Redis
 * fails over.
 */
export async function runRollingRestart(options: RollingOptions): Promise<RollingResult> {
  const { deployment, onStep, signal } = options;
  const load = startLoad(options);
  const restarted: string[] = [];
  const errors: string[] = [];
  try {
    for (const [name, app] of deployment.processes) {
      if (NOT_REPLICATED.has(name) || signal?.aborted === true) continue;
      await app.stop();
      errors.push(...errorLines(app.output()));
      await app.start();
      await recovered(deployment);
      restarted.push(name);
      onStep?.(`${name} was restarted`);
    }
    if (signal?.aborted !== true) {
      await deployment.failOverRedis();
      await recovered(deployment);
      restarted.push('redis');
      onStep?.('redis failed over to a replica');
    }
  } finally {
    await load.stop();
  }
  const failed = load.sent.filter(
    ({ kind, outcome }) => WHOLE.has(kind) && outcome.name !== 'complete',
  );
  for (const app of deployment.processes.values()) errors.push(...errorLines(app.output()));
  const { differences, problems } = await settle(deployment, load.sent);
  return { sent: load.sent, failed, restarted, differences, problems, errors };
}

/** What the service logged as its own failure. */
const errorLines = (output: string): readonly string[] =>
  output.split('\n').filter((line) => /^\{"level":"(?:error|fatal)"/.test(line));
