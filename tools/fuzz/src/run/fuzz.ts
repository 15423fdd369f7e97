import { describeError } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import type { AnyScene, Target } from '../target.ts';
import { targets } from '../targets/index.ts';
import { casesOf } from './cases-of.ts';
import { readCorpus, saveToCorpus } from './corpus.ts';
import type { Options } from './options.ts';
import { Finding, runCase } from './run-case.ts';
import type { StallWatch } from './stall-watch.ts';

interface Fuzzing {
  readonly options: Options;
  readonly watch: StallWatch;
  sceneOf(kind: AnyScene['kind']): Promise<AnyScene>;
  readonly print: (line: string) => void;
}

/** The cases of a target before the next one has its turn. */
const SLICE_CASES = 200;
const SLICE_SECONDS = 15;
/** The service is held up when it answers this much later than an idle process. */
const STALL_MS = 500;
/** A machine that is busy with other things delays a service that computes for some milliseconds much longer. */
const BUSY_MS_MAX = 200;
/** Such a machine can hold up a process too, but hardly the same case each time. */
const STALL_REPEATS = 2;
const SHRINK_MS_MAX = 3_600_000;
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
      await runWatched(target, entry.case, scene, fuzzing.watch);
    } catch (error) {
      findings += 1;
      fuzzing.print(
        `\n${target.name}: fuzz/corpus/${target.name}/${entry.name}\n${String(error)}\n`,
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
  const { options, watch, print } = fuzzing;
  const scene = await fuzzing.sceneOf(target.scene);
  const property = fc.asyncProperty(await casesOf(target, scene), (each) =>
    runWatched(target, each, scene, watch),
  );
  const isTimed = options.cases === undefined && options.path === undefined;
  const details = await fc.check(property, {
    seed,
    numRuns: options.cases ?? SLICE_CASES,
    ...(options.path === undefined ? {} : { path: options.path }),
    // A large case has thousands of smaller ones; they take their time beyond that of the slice.
    plugins: [fc.interruptAfterTimeLimit(isTimed ? seconds * 1000 : SHRINK_MS_MAX)],
  });
  if (!details.failed || details.counterexample === null)
    return { cases: details.numRuns, findings: 0 };
  const [smallest] = details.counterexample as readonly unknown[];
  const finding = describeError(details.errorInstance);
  const text = JSON.stringify(smallest);
  print(
    [
      '',
      `Finding in ${target.name}, after ${details.numRuns} cases and ${details.numShrinks} shrinks:`,
      finding,
      `The smallest case: ${text.slice(0, CASE_CHARS_SHOWN)}${text.length > CASE_CHARS_SHOWN ? '…' : ''}`,
      `Replay: pnpm fuzz --target ${target.name} --seed ${seed} --path "${details.counterexamplePath ?? ''}"`,
      ...(options.save ? [`Saved: ${saveToCorpus(target.name, smallest, finding)}`] : []),
      '',
    ].join('\n'),
  );
  return { cases: details.numRuns, findings: 1 };
}

/** Runs a case; one that holds up the service each time is a finding too. */
async function runWatched(
  target: Target,
  each: unknown,
  scene: AnyScene,
  watch: StallWatch,
): Promise<void> {
  if (scene.healthUrl === undefined) return runCase(target, each, scene);
  const delays: number[] = [];
  for (let run = 0; run <= STALL_REPEATS; run += 1) {
    await scene.ensureRunning();
    await busyMsOf(scene);
    const delay = await watch.during(scene.healthUrl, () => runCase(target, each, scene));
    if (delay < STALL_MS || (await busyMsOf(scene)) < BUSY_MS_MAX) return;
    delays.push(Math.round(delay));
  }
  throw new Finding(`the service was held up: ${delays.join(', ')} ms later than an idle process`);
}

/** Without a measurement the delay alone decides. */
const busyMsOf = (scene: AnyScene): Promise<number> =>
  scene.busyMs?.().catch(() => Infinity) ?? Promise.resolve(Infinity);
