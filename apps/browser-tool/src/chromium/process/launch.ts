import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Launcher } from 'chrome-launcher';
import { raceAbort, type Log } from '@model-gateway/kernel';
import { withLibraryFolder } from '../../process/library-environment.ts';
import type { SandboxMode, Viewport } from '../../engine.ts';
import { childEnvironment } from '../../process/child-environment.ts';
import { ownEnvironment } from '../../process/config.ts';
import { ToolError } from '../../errors.ts';
import { connectToBrowser, type CdpConnection } from '../cdp-connection.ts';
import type { BrowserPipe } from '../pipe-socket.ts';
import { chromiumFlags } from './flags.ts';
import { isSandboxError } from './sandbox-error.ts';
import { createProfile, newProfilePath, removeProfile, temporaryFolderFor } from './profile.ts';

const START_TIMEOUT_MS = 30_000;
const EXIT_GRACE_MS = 1_000;
const STDERR_LINES_SHOWN = 4;
const STDERR_BYTES_READ = 64 * 1024;

/** How to start Chromium. */
export interface LaunchOptions {
  readonly executable: string;
  /** Libraries that are shipped with the tool. */
  readonly libraryFolder: string | undefined;
  readonly viewport: Viewport;
  readonly proxyServer: string | undefined;
  readonly allowedOrigins: readonly string[];
  /** Whether the browser may run without its sandbox if the sandbox does not work. */
  readonly sandbox: SandboxMode;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A running Chromium. */
export interface RunningChromium {
  readonly pid: number;
  /** Such as `156.0.8078.79`. */
  readonly version: string;
  /** Over its pipe: it listens on no port. */
  readonly connection: CdpConnection;
  readonly sandbox: boolean;
  /** Settles with the reason when it exits. */
  readonly exited: Promise<string>;
  /** Kills all of its processes and removes its profile. Idempotent. */
  end(): Promise<void>;
  /** Lets this process exit while the browser runs; the browser ends with it. */
  unref(): void;
}

/** Starts Chromium; without its sandbox if the sandbox does not work and is not required. */
export async function launchChromium(options: LaunchOptions): Promise<RunningChromium> {
  const isRequired = options.sandbox === 'required';
  // Chromium has no sandbox as root.
  const isRoot = process.getuid?.() === 0;
  try {
    return await start(options, isRequired || !isRoot);
  } catch (error) {
    const canRetry = error instanceof LaunchFailure && error.isSandboxError;
    if (isRequired || isRoot || !canRetry) throw error;
    options.log.warn({ error }, 'the sandbox does not work; starting the browser without it');
    return start(options, false);
  }
}

async function start(options: LaunchOptions, sandbox: boolean): Promise<RunningChromium> {
  const profile = newProfilePath();
  const temporary = temporaryFolderFor(profile);
  await createProfile(profile, temporary);
  const folders = { profile, temporary };
  const { child, pipe } = await spawnChromium(options, folders, sandbox);
  const { pid } = child;
  if (pid === undefined) {
    await removeProfile(profile);
    throw new LaunchFailure(options, 'the program could not be started');
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
  };
  const endOnce = (): Promise<void> => (ended ??= end());
  try {
    const connected = await connect(options, pipe, profile, exited);
    return { pid, ...connected, sandbox, exited, end: endOnce, unref: () => unrefAll(child) };
  } catch (error) {
    await endOnce();
    throw error;
  }
}

async function spawnChromium(
  options: LaunchOptions,
  { profile, temporary }: { readonly profile: string; readonly temporary: string },
  sandbox: boolean,
): Promise<{ readonly child: ChildProcess; readonly pipe: BrowserPipe }> {
  const { executable, libraryFolder, viewport, proxyServer, allowedOrigins } = options;
  let child: ChildProcess | undefined;
  const launcher = new Launcher(
    {
      chromePath: executable,
      chromeFlags: [...chromiumFlags({ sandbox, viewport, proxyServer, allowedOrigins })],
      ignoreDefaultFlags: true,
      userDataDir: profile,
      startingUrl: 'about:blank',
      handleSIGINT: false,
      logLevel: 'silent',
    },
    {
      spawn: ((command: string, args: readonly string[], spawnOptions: SpawnOptions) => {
        const given = { ...childEnvironment(ownEnvironment()), TMPDIR: temporary };
        const env = withLibraryFolder(given, libraryFolder);
        child = spawn(command, args, { ...spawnOptions, env });
        // Without a listener, a program that cannot be started would end our process.
        child.on('error', () => undefined);
        closeLogs(spawnOptions);
        return child;
      }) as typeof spawn,
    },
  );
  await launcher.launch();
  const { remoteDebuggingPipes: pipe } = launcher;
  if (child === undefined || pipe === null)
    throw new LaunchFailure(options, 'the program could not be started');
  return { child, pipe: pipe as BrowserPipe };
}

/** Closes the log files that the launcher opened; the browser has its own handles. */
function closeLogs({ stdio }: SpawnOptions): void {
  if (!Array.isArray(stdio)) return;
  for (const handle of stdio) if (typeof handle === 'number') closeSync(handle);
}

/** Connects to a browser that is starting, and waits for its first response. */
async function connect(
  options: LaunchOptions,
  pipe: BrowserPipe,
  profile: string,
  exited: Promise<string>,
): Promise<Pick<RunningChromium, 'connection' | 'version'>> {
  const connection = await connectToBrowser(pipe);
  const late = new AbortController();
  const never = (): Promise<never> => new Promise(() => undefined);
  const problem = Promise.race([
    exited,
    // Its exit is the better reason.
    connection.closed.then(() => sleep(EXIT_GRACE_MS, 'it closed the connection')),
    sleep(START_TIMEOUT_MS, `not ready within ${START_TIMEOUT_MS / 1000} s`, late).catch(never),
  ]);
  try {
    const version = await raceAbort(
      Promise.race([
        connection.send('Browser.getVersion').catch(never),
        problem.then(async (reason) => {
          throw new LaunchFailure(options, reason, await errorOutput(profile));
        }),
      ]),
      options.signal,
      () => new LaunchFailure(options, 'the tool is shutting down'),
    );
    return { connection, version: version.product.split('/').at(-1) ?? version.product };
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    late.abort();
  }
}

/** The pipes keep a process running, too. */
function unrefAll(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
}

async function errorOutput(profile: string): Promise<string> {
  const written = await readFile(join(profile, 'chrome-err.log'), 'utf8').catch(() => '');
  return written.slice(-STDERR_BYTES_READ);
}

class LaunchFailure extends ToolError {
  /** Whether the browser said that the system does not support its sandbox. */
  readonly isSandboxError: boolean;

  constructor({ executable, sandbox }: LaunchOptions, reason: string, output = '') {
    const lines = output.split('\n').filter((line) => line.trim() !== '');
    const last = lines.slice(-STDERR_LINES_SHOWN).join(' / ').slice(-600);
    const suffix = last === '' ? '' : ` Its last output: ${last}`;
    super('BROWSER_LAUNCH_FAILED', `${executable} did not start: ${reason}.${suffix}`, {
      hint:
        sandbox === 'required'
          ? 'BROWSER_SANDBOX=required starts no browser without its sandbox: use an ordinary user, not root, on a system that supports it.'
          : 'Run it manually with --headless to see why, or set CHROMIUM_PATH to another browser.',
      details: { executable },
    });
    this.isSandboxError = isSandboxError(output);
  }
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
