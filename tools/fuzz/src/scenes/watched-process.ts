import { resolve } from 'node:path';
import {
  freePort,
  startGuarded,
  SYSTEM_ENVIRONMENT,
  type GuardedProcess,
} from '@model-gateway/kernel';
import type { SecretSearch } from '../run/secret-search.ts';
import type { Measured } from '../target.ts';

interface Program {
  /** The arguments of Node. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: SecretSearch;
  readonly graceSeconds: number;
  /** Resolves when it serves; gets what it prints until then. */
  readonly untilReady: (line: Promise<string>) => Promise<void>;
  /** The line that `untilReady` waits for. */
  readonly readyLine?: RegExp;
}

/** A process whose log, end and event loop are watched. */
export interface WatchedProcess {
  /** What went wrong since the last call. */
  takeProblems(): readonly string[];
  measure(): Promise<Measured>;
  /** Waits for the end of the process if it is ending. */
  settled(): Promise<void>;
  /** Starts it again if it has ended. */
  ensureRunning(): Promise<void>;
  close(): Promise<void>;
}

const METER = resolve(import.meta.dirname, 'meter.mjs');
const PROBLEMS_MAX = 20;
const LINES_SHOWN = 15;

/** Starts a program of Node, and starts it again after each end. */
export async function startWatched(program: Program): Promise<WatchedProcess> {
  const { args, environment, secrets, graceSeconds, untilReady, readyLine } = program;
  const meterPort = await freePort();
  let problems: string[] = [];
  let child: GuardedProcess | undefined;
  let isStopping = false;
  const add = (problem: string): void => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem);
  };

  function check(line: string): void {
    for (const name of secrets.namesIn(line))
      add(`the log contains ${name}: ${line.slice(0, 500)}`);
    // An upstream that failed is logged as an error too; its answer has a code of its own.
    if (/"level":"(error|fatal)"/.test(line) && !line.includes('"type":"AppError"'))
      add(`an error in the log: ${line.slice(0, 1000)}`);
  }

  async function start(): Promise<void> {
    let onReady: (line: string) => void = () => undefined;
    const line = new Promise<string>((done) => (onReady = done));
    const started = startGuarded({
      command: [process.execPath, `--import=${METER}`, ...args],
      graceSeconds,
      environment: { ...SYSTEM_ENVIRONMENT, ...environment, FUZZ_METER_PORT: `${meterPort}` },
      onLine(each) {
        check(each);
        if (readyLine?.test(each) === true) onReady(each);
      },
    });
    child = started;
    void started.exited.then((status) => {
      child = undefined;
      if (isStopping) return;
      const last = started.lastLines().slice(-LINES_SHOWN).join('\n');
      add(`the process ended with status ${status}:\n${last}`);
    });
    const early = started.exited.then((status) => {
      throw new Error(`the process ended with status ${status}: ${started.lastLines().join('\n')}`);
    });
    await Promise.race([untilReady(line), early]);
  }

  await start();
  return {
    takeProblems() {
      const taken = problems;
      problems = [];
      return taken;
    },
    async measure() {
      const response = await fetch(`http://127.0.0.1:${meterPort}`);
      return (await response.json()) as Measured;
    },
    async settled() {
      const ending = child?.exited;
      await fetch(`http://127.0.0.1:${meterPort}`).catch(() => ending);
    },
    async ensureRunning() {
      if (child === undefined) await start();
    },
    async close() {
      isStopping = true;
      await child?.stop();
    },
  };
}
