import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sendRequests, sendStreams } from '../load/loads.ts';
import { startUpstream, streamedModel } from '../load/upstream.ts';
import { chooseCores } from '../measure/cores.ts';
import { quantile, type Sample } from '../measure/statistics.ts';
import { machine, print } from '../measure/table.ts';
import { chatOf, ours, type Candidate } from './candidates.ts';
import { builtIn } from './service.ts';
import { FULL, measureOnce, warmAll, withCandidates } from './rounds.ts';

const ROUNDS_DEFAULT = 20;
const ROUND_MS = 1000;
const STREAMS = { count: 200, tokens: 50, intervalMs: 20, rampMs: 500 };
const MODEL = streamedModel(STREAMS.tokens, STREAMS.intervalMs);

export const USAGE = `pnpm --filter bench start compare OTHER [options]

Compares the CPU time of this checkout's service with that of another checkout, which must be built.

  --rounds N   rounds of each load; ${ROUNDS_DEFAULT} by default
`;

const LOADS: Readonly<Record<string, (candidate: Candidate) => Promise<Sample>>> = {
  'whole answers, 64 connections': (each) =>
    sendRequests(chatOf(each), { connections: 64, durationMs: ROUND_MS }),
  'whole answers, one connection': (each) =>
    sendRequests(chatOf(each), { connections: 1, durationMs: ROUND_MS }),
  'tokens of 200 streams': (each) => sendStreams(chatOf(each, MODEL), STREAMS),
};

/** Compares the CPU time of two checkouts, which take turns. */
export async function compareCheckouts(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { rounds: { type: 'string', default: `${ROUNDS_DEFAULT}` } },
  });
  // pnpm runs scripts in the folder of the package.
  const other = resolve(process.env['INIT_CWD'] ?? '.', positionals[0] ?? '');
  if (positionals.length !== 1 || !existsSync(builtIn(other)))
    throw new Error(`OTHER must be a built checkout\n\n${USAGE}`);
  print(machine());
  const cores = chooseCores();
  const models = ['bench', MODEL];
  const upstream = await startUpstream(models);
  const setting = { upstream, models, cores: cores.measured };
  try {
    await withCandidates([ours(setting), ours(setting, { checkout: other })], async (both) => {
      await warmAll(both, FULL);
      for (const [title, load] of Object.entries(LOADS)) {
        const ratios: number[] = [];
        for (let round = 0; round < Number(values.rounds); round += 1) {
          const [own = NaN, others = NaN] = await costs(both, load);
          ratios.push(others / own);
        }
        print(`${title}: the other takes ${summary(ratios)}`);
      }
    });
  } finally {
    upstream.close();
  }
}

async function costs(
  both: readonly Candidate[],
  load: (candidate: Candidate) => Promise<Sample>,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const each of both) found.push((await measureOnce(each, load))['cpuUs'] ?? NaN);
  return found;
}

function summary(ratios: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share));
  const isUndecided = (low ?? 0) <= 1 && (high ?? 0) >= 1;
  const range = `${low?.toFixed(3)} to ${high?.toFixed(3)}`;
  return `${middle?.toFixed(3)} × the CPU, middle half ${range}${isUndecided ? ': undecided' : ''}`;
}
