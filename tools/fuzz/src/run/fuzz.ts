import { describeError } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import type { AnyScene, Target } from '../target.ts';
import { targets } from '../targets/index.ts';
import { readCorpus, saveToCorpus } from './corpus.ts';
import type { Options } from './options.ts';
import { casesOf, Finding, runCase } from './run-case.ts';

interface Fuzzing {
  readonly options: Options;
  sceneOf(kind: AnyScene['kind']): Promise<AnyScene>;
  readonly print: (line: string) => void;
}

/** The cases of a target before the next one has its turn. */
const SLICE_CASES = 200;
const SLICE_SECONDS = 15;
/** One piece of work may keep the event loop busy for so long, in CPU time. */
const BUSY_MS_MAX = 300;
/** A collection of garbage takes long too, but hardly for the same case each time. */
const BUSY_RUNS = 2;
const SHRINK_MS_MAX = 60_000;
const CASE_CHARS_SHOWN = 4000;

/** Runs targets in turn until the time is over; returns the number of findings. */
export async function fuzz(fuzzing: Fuzzing): Promise<number> {
  const { options, print } = fuzzing;
  const chosen = targets.filter(({ name }) => options.targetNames.includes(name));
  const endsAt = performance.now() + options.seconds * 1000;
  let findings = 0;
  if (options.path === undefined) {
    for (const target of chosen) findings += await replayCorpus(target, fuzzing);
  }
  const counts = new Map<string, number>();
  for (let round = 0; ; round += 1) {
    const seed = options.seed + round;
    for (const target of chosen) {
      const seconds = (endsAt - performance.now()) / 1000;
      if (options.cases === undefined && options.path === undefined && seconds <= 0) {
        print(`${total(counts)} cases, ${findings} findings`);
        return findings;
      }
      const slice = await runSlice(target, seed, Math.min(seconds, SLICE_SECONDS), fuzzing);
      counts.set(target.name, (counts.get(target.name) ?? 0) + slice.cases);
      findings += slice.findings;
      print(
        `${target.name.padEnd(18)} seed ${seed}  ${slice.cases} cases, ${counts.get(target.name)} so far${slice.findings > 0 ? ', a finding' : ''}`,
      );
    }
    if (options.cases !== undefined || options.path !== undefined) {
      print(`${total(counts)} cases, ${findings} findings`);
      return findings;
    }
  }
}

const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

async function replayCorpus(target: Target, fuzzing: Fuzzing): Promise<number> {
  const scene = await fuzzing.sceneOf(target.scene);
  let findings = 0;
  for (const entry of readCorpus(target.name)) {
    try {
      await runWatched(target, entry.case, scene);
    } catch (error) {
      findings += 1;
      fuzzing.print(
        `\n${target.name}: tools/fuzz/corpus/${target.name}/${entry.name}\n${String(error)}\n`,
      );
    }
  }
  return findings;
}

async function runSlice(
  target: Target,
  seed: number,
  seconds: number,
  fuzzing: Fuzzing,
): Promise<{ readonly cases: number; readonly findings: number }> {
  const { options, print } = fuzzing;
  const scene = await fuzzing.sceneOf(target.scene);
  const isTimed = options.cases === undefined && options.path === undefined;
  const endsAt = performance.now() + (isTimed ? seconds * 1000 : Infinity);
  let cases = 0;
  let isShrinking = false;
  const property = fc.asyncProperty(await casesOf(target, scene), async (each) => {
    // A case that runs is never cut off: it may be the one that holds up the service.
    const leftMs = endsAt - performance.now() + (isShrinking ? SHRINK_MS_MAX : 0);
    if (leftMs < 0) return;
    if (!isShrinking) cases += 1;
    try {
      await runWatched(target, each, scene);
    } catch (error) {
      isShrinking = true;
      throw error;
    }
  });
  const details = await fc.check(property, {
    seed,
    numRuns: options.cases ?? SLICE_CASES,
    ...(options.path === undefined ? {} : { path: options.path }),
  });
  if (!details.failed || details.counterexample === null) return { cases, findings: 0 };
  const [smallest] = details.counterexample as readonly unknown[];
  const finding = describeError(details.errorInstance);
  const text = JSON.stringify(smallest);
  print(
    [
      '',
      `Finding in ${target.name}, after ${cases} cases and ${details.numShrinks} shrinks:`,
      finding,
      `The smallest case: ${text.slice(0, CASE_CHARS_SHOWN)}${text.length > CASE_CHARS_SHOWN ? '…' : ''}`,
      `Replay: pnpm --filter fuzz start --target ${target.name} --seed ${seed} --path "${details.counterexamplePath ?? ''}"`,
      ...(options.save ? [`Saved: ${saveToCorpus(target.name, smallest, finding)}`] : []),
      '',
    ].join('\n'),
  );
  return { cases, findings: 1 };
}

/** Runs a case; one that holds up the process each time is a finding too. */
async function runWatched(target: Target, each: unknown, scene: AnyScene): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < BUSY_RUNS; run += 1) {
    await runCase(target, each, scene);
    const { busyMs, isPolluted } = await scene.measure();
    if (isPolluted) throw new Finding('the prototype of objects has changed');
    if (busyMs < BUSY_MS_MAX) return;
    times.push(Math.round(busyMs));
  }
  throw new Finding(`the event loop was busy for ${times.join(', ')} ms of CPU time at once`);
}
