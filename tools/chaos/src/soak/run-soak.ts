import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.ts';
import type { Sent } from '../load/outcome.ts';
import { startLoad } from '../load/run-load.ts';
import { latencyLine } from './latency.ts';
import { EXPECTED_GROWTH, takeSample, type Sample } from './sample.ts';
import { fitSlope, type Slope } from './slope.ts';

/** One measure over the whole run. */
export interface Measure extends Slope {
  readonly name: string;
  /** Whether its growth is a failure. */
  readonly isJudged: boolean;
}

/** What a soak found. */
export interface SoakResult {
  readonly sent: readonly Sent[];
  readonly measures: readonly Measure[];
}

interface SoakOptions {
  readonly deployment: Deployment;
  readonly seed: number;
  readonly clients: number;
  readonly thinkMsMax: number;
  readonly samples: number;
  readonly secondsPerSample: number;
  readonly onSample?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** Caches fill and code is compiled in this part of the run, which is not judged. */
const WARM_UP_SHARE = 0.25;

/** Runs a steady load and fits a line to every measure. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { deployment, clients, samples: count, secondsPerSample, signal, onSample } = options;
  const load = startLoad(options);
  const samples: Sample[] = [];
  let seen = 0;
  try {
    while (samples.length < count) {
      await sleep(
        secondsPerSample * 1_000,
        undefined,
        signal === undefined ? {} : { signal },
      ).catch(() => undefined);
      if (signal?.aborted === true) break;
      const sent = load.sent.slice(seen);
      const sample = await takeSample(deployment, sent);
      seen += sent.length;
      samples.push(sample);
      onSample?.(lineOf(samples.length, sample));
      onSample?.(latencyLine(sent));
    }
  } finally {
    await load.stop();
  }
  const judged = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const names = [...new Set(judged.flatMap((sample) => [...sample.keys()]))];
  return {
    sent: load.sent,
    measures: names.map((name) => ({
      name,
      isJudged: !EXPECTED_GROWTH.includes(name),
      ...fitSlope(
        judged.flatMap((sample) => sample.get(name) ?? []),
        isOfConnections(name) ? clients : 0,
      ),
    })),
  };
}

/** Pools open connections on demand, and need at most one for each client. */
const isOfConnections = (name: string): boolean => /: (?:handles|sockets)$/.test(name);

function lineOf(number: number, sample: Sample): string {
  const value = (name: string): string => (sample.get(name) ?? 0).toFixed(0);
  return `${number}: ${value('load: requests')} requests, p50 ${value('load: p50 ms')} ms, p95 ${value('load: p95 ms')} ms, gateway-1 ${value('gateway-1: memory MB')} MB, Redis ${value('redis: MB')} MB`;
}

/** The longest name of a measure. */
const NAME_CHARS = 'group.credits.allocate: p95 ms'.length;

/** The table of all measures. */
export function soakTable(measures: readonly Measure[]): readonly string[] {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(NAME_CHARS) : cell.padStart(9))).join(' | ')} |`;
  return [
    row(['measure', 'first', 'last', 'growth', 'noise', 'verdict']),
    row(Array<string>(6).fill('---')),
    ...measures.map(({ name, first, last, growth, noise, isGrowing, isJudged }) =>
      row([
        name,
        ...[first, last, growth, noise].map((value) => value.toFixed(2)),
        isJudged ? (isGrowing ? 'GROWS' : 'steady') : 'shown',
      ]),
    ),
  ];
}
