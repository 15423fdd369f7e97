import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Launcher } from 'chrome-launcher';
import { describeError, type Log } from '@model-gateway/kernel';
import { withLibraryFolder } from '../../bundle/library-environment.ts';
import type { Viewport } from '../../engine.ts';
import { ToolError } from '../../tool-error.ts';
import { chromiumFlags } from './flags.ts';
import { startCrashCleanup, type CrashCleanup } from './crash-cleanup.ts';
import { createProfile, newProfilePath, removeProfile, temporaryFolderFor } from './profile.ts';

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 10;
const STDERR_LINES_SHOWN = 4;
const SANDBOX_ERROR = /sandbox|zygote|namespace/i;

/** How to start Chromium. */
export interface LaunchOptions {
  readonly executable: string;
  /** Libraries that are shipped with the tool. */
  readonly libraryFolder: string | undefined;
  readonly viewport: Viewport;
  readonly proxyServer: string | undefined;
  readonly allowedOrigins: readonly string[];
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A running Chromium. */
export interface RunningChromium {
  readonly pid: number;
  readonly port: number;
  /** The path of its WebSocket. */
  readonly path: string;
  readonly sandbox: boolean;
  /** Settles with the reason when it exits. */
  readonly exited: Promise<string>;
  /** Kills all of its processes and removes its profile. Idempotent. */
  end(): Promise<void>;
  /** Lets this process exit while the browser runs; the browser ends with it. */
  unref(): void;
}

/** Starts Chromium; without its sandbox if the sandbox does not work. */
export async function launchChromium(options: LaunchOptions): Promise<RunningChromium> {
  const isRoot = process.getuid?.() === 0;
  try {
    return await start(options, !isRoot);
  } catch (error) {
    if (isRoot || !SANDBOX_ERROR.test(describeError(error))) throw error;
    options.log.warn({ error }, 'the sandbox does not work; starting the browser without it');
    return start(options, false);
  }
}

async function start(options: LaunchOptions, sandbox: boolean): Promise<RunningChromium> {
  const profile = newProfilePath();
  const temporary = temporaryFolderFor(profile);
  const crashCleanup = startCrashCleanup(profile, temporary);
  await createProfile(profile, temporary);
  const child = await spawnChromium(options, { profile, temporary }, sandbox, crashCleanup);
  const { pid } = child;
  if (pid === undefined) {
    await removeProfile(profile);
    crashCleanup.done();
    throw launchFailure(options.executable, 'the program could not be started');
  }
  const exited = exitOf(child);
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    killGroup(child, pid);
    await exited;
    // Its child processes may exit a little later; they can only be found by their group.
    killGroup(child, pid);
    await removeProfile(profile).catch((error: unknown) =>
      options.log.warn({ profile, error }, 'removing the profile failed'),
    );
    crashCleanup.done();
  };
  const endOnce = (): Promise<void> => (ended ??= end());
  try {
    const address = await readAddress(options, profile, exited);
    return { pid, ...address, sandbox, exited, end: endOnce, unref: () => unrefAll(child) };
  } catch (error) {
    await endOnce();
    throw error;
  }
}

async function spawnChromium(
  { executable, libraryFolder, viewport, proxyServer, allowedOrigins }: LaunchOptions,
  { profile, temporary }: { readonly profile: string; readonly temporary: string },
  sandbox: boolean,
  crashCleanup: CrashCleanup,
): Promise<ChildProcess> {
  let child: ChildProcess | undefined;
  const launcher = new Launcher(
    {
      chromePath: executable,
      chromeFlags: [...chromiumFlags({ sandbox, viewport, proxyServer, allowedOrigins })],
      ignoreDefaultFlags: true,
      userDataDir: profile,
      startingUrl: 'about:blank',
      handleSIGINT: false,
      connectionPollInterval: POLL_MS,
      logLevel: 'silent',
    },
    {
      spawn: ((command: string, args: readonly string[], spawnOptions: SpawnOptions) => {
        const given = { ...spawnOptions.env, TMPDIR: temporary };
        const env = withLibraryFolder(given, libraryFolder);
        child = spawn(command, args, { ...spawnOptions, env });
        // Without a listener, a program that cannot be started would end our process.
        child.on('error', () => undefined);
        if (child.pid !== undefined) crashCleanup.setGroup(child.pid);
        closeLogs(spawnOptions);
        return child;
      }) as typeof spawn,
    },
  );
  await launcher.launch();
  if (child === undefined) throw launchFailure(executable, 'the program could not be started');
  return child;
}

/** Closes the log files that the launcher opened; the browser has its own handles. */
function closeLogs({ stdio }: SpawnOptions): void {
  if (!Array.isArray(stdio)) return;
  for (const handle of stdio) if (typeof handle === 'number') closeSync(handle);
}

/** Waits for the file with Chromium's port and path. */
async function readAddress(
  { executable, signal }: LaunchOptions,
  profile: string,
  exited: Promise<string>,
): Promise<{ readonly port: number; readonly path: string }> {
  let exitReason: string | undefined;
  void exited.then((reason) => (exitReason = reason));
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const written = await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '');
    const [port = '', path = ''] = written.split('\n');
    if (port !== '' && path !== '') return { port: Number(port), path };
    if (exitReason !== undefined)
      throw launchFailure(executable, exitReason, await lastErrorOutput(profile));
    if (signal.aborted) throw launchFailure(executable, 'the tool is shutting down');
    if (performance.now() > deadline) {
      throw launchFailure(
        executable,
        `not ready within ${START_TIMEOUT_MS / 1000} s`,
        await lastErrorOutput(profile),
      );
    }
    await sleep(POLL_MS);
  }
}

/** The pipes keep a process running, too. */
function unrefAll(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
}

async function lastErrorOutput(profile: string): Promise<string> {
  const written = await readFile(join(profile, 'chrome-err.log'), 'utf8').catch(() => '');
  const lines = written.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-STDERR_LINES_SHOWN).join(' / ').slice(-600);
}

function launchFailure(executable: string, reason: string, output = ''): ToolError {
  const suffix = output === '' ? '' : ` Its last output: ${output}`;
  return new ToolError(
    'BROWSER_LAUNCH_FAILED',
    `${executable} did not start: ${reason}.${suffix}`,
    {
      hint: 'Run it manually with --headless to see why, or set CHROMIUM_PATH to another browser.',
      details: { executable },
    },
  );
}

async function exitOf(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => child.once('exit', resolve));
  }
  return child.signalCode === null
    ? `it exited with status ${child.exitCode ?? 'unknown'}`
    : `it was killed by ${child.signalCode}`;
}

function killGroup(child: ChildProcess, pid: number): void {
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes have exited already.
  }
}
