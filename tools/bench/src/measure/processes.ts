import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startGuarded, SYSTEM_ENVIRONMENT } from '@model-gateway/kernel';

/** A program that listens on a port of the loopback address. */
export interface Running {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

interface Program {
  readonly name: string;
  readonly command: (port: number) => readonly string[];
  readonly environment?: (port: number) => Readonly<Record<string, string>>;
  /** The cores that it may use, as `taskset` names them. */
  readonly cores: string | undefined;
  /** A port that it shares with others; a free one by default. */
  readonly port?: number;
}

const READY_TIMEOUT_MS = 120_000;
const READY_INTERVAL_MS = 50;
const GRACE_SECONDS = 20;

/** Starts a program, which ends with this process at the latest, and waits until its port is open. */
export async function startProgram(program: Program): Promise<Running> {
  const port = program.port ?? (await freePort());
  const child = startGuarded({
    command: pinned(program.cores, program.command(port)),
    graceSeconds: GRACE_SECONDS,
    environment: { ...SYSTEM_ENVIRONMENT, HOME: '/tmp', ...program.environment?.(port) },
  });
  const outcome = await Promise.race([
    untilListening(port),
    child.exited.then((status) => `ended with status ${status}`),
  ]);
  if (outcome === 'listening') return { port, pid: await child.pid, stop: () => child.stop() };
  await child.stop();
  throw new Error(`${program.name} ${outcome}:\n${child.lastLines().join('\n')}`);
}

const pinned = (cores: string | undefined, command: readonly string[]): readonly string[] =>
  cores === undefined ? command : ['taskset', '--cpu-list', cores, ...command];

async function untilListening(port: number): Promise<string> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (await isListening(port)) return 'listening';
    await sleep(READY_INTERVAL_MS);
  }
  return 'did not listen in time';
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
