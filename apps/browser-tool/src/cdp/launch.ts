import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Launcher } from 'chrome-launcher';
import { describeError, type Log } from '@model-gateway/kernel';
import { withLibraryFolder } from '../bundle/library-environment.ts';
import type { Viewport } from '../engine.ts';
import { ToolError } from '../tool-error.ts';
import { chromiumFlags } from './flags.ts';
import { startGuard, type Guard } from './guard.ts';
import { createProfile, newProfilePath, removeProfile, temporaryFolderFor } from './profile.ts';

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 10;
const STDERR_LINES_SHOWN = 4;
const SANDBOX_TROUBLE = /sandbox|zygote|namespace/i;

interface LaunchOptions {
  readonly executable: string;
  /** Libraries that are shipped with the tool. */
  readonly libraryFolder: string | undefined;
  readonly viewport: Viewport;
  readonly proxyServer: string | undefined;
  readonly allowedOrigins: readonly string[];
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A Chromium that runs. */
export interface RunningChromium {
  readonly pid: number;
  readonly port: number;
  /** The path of its WebSocket. */
  readonly path: string;
  readonly sandbox: boolean;
  /** Settles when it ended, with how it did. */
  readonly exited: Promise<string>;
  /** Ends it with all of its processes and removes its profile. Idempotent. */
  end(): Promise<void>;
}

/** Starts Chromium; without its sandbox where it cannot have one. */
export async function launchChromium(options: LaunchOptions): Promise<RunningChromium> {
  const isRoot = process.getuid?.() === 0;
  try {
    return await start(options, !isRoot);
  } catch (error) {
    if (isRoot || !SANDBOX_TROUBLE.test(describeError(error))) throw error;
    options.log.warn({ error }, 'no sandbox here: starting the browser without it');
    return start(options, false);
  }
}

async function start(options: LaunchOptions, sandbox: boolean): Promise<RunningChromium> {
  const profile = newProfilePath();
  const temporary = temporaryFolderFor(profile);
  const guard = startGuard(profile, temporary);
  await createProfile(profile, temporary);
  const child = await spawnChromium(options, { profile, temporary }, sandbox, guard);
  const { pid } = child;
  if (pid === undefined) {
    await removeProfile(profile);
    guard.done();
    throw launchFailure(options.executable, 'the program could not be started');
  }
  const exited = exitOf(child);
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    killGroup(child, pid);
    await exited;
    // Its children may outlive it by a moment; without their group they would not be found again.
    killGroup(child, pid);
    await removeProfile(profile).catch((error: unknown) =>
      options.log.warn({ profile, error }, 'the profile could not be removed'),
    );
    guard.done();
  };
  const endOnce = (): Promise<void> => (ended ??= end());
  try {
    const address = await readAddress(options, profile, exited);
    return { pid, ...address, sandbox, exited, end: endOnce };
  } catch (error) {
    await endOnce();
    throw error;
  }
}

async function spawnChromium(
  { executable, libraryFolder, viewport, proxyServer, allowedOrigins }: LaunchOptions,
  { profile, temporary }: { readonly profile: string; readonly temporary: string },
  sandbox: boolean,
  guard: Guard,
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
        if (child.pid !== undefined) guard.setGroup(child.pid);
        closeLogs(spawnOptions);
        return child;
      }) as typeof spawn,
    },
  );
  await launcher.launch();
  if (child === undefined) throw launchFailure(executable, 'the program could not be started');
  return child;
}

/** The launcher opens log files for the browser, which has its own handles of them now. */
function closeLogs({ stdio }: SpawnOptions): void {
  if (!Array.isArray(stdio)) return;
  for (const handle of stdio) if (typeof handle === 'number') closeSync(handle);
}

/** Waits for the file in which Chromium writes its port and path. */
async function readAddress(
  { executable, signal }: LaunchOptions,
  profile: string,
  exited: Promise<string>,
): Promise<{ readonly port: number; readonly path: string }> {
  let ending: string | undefined;
  void exited.then((how) => (ending = how));
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const written = await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '');
    const [port = '', path = ''] = written.split('\n');
    if (port !== '' && path !== '') return { port: Number(port), path };
    if (ending !== undefined)
      throw launchFailure(executable, ending, await lastErrorOutput(profile));
    if (signal.aborted) throw launchFailure(executable, 'the tool is ending');
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

async function lastErrorOutput(profile: string): Promise<string> {
  const written = await readFile(join(profile, 'chrome-err.log'), 'utf8').catch(() => '');
  const lines = written.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-STDERR_LINES_SHOWN).join(' / ').slice(-600);
}

function launchFailure(executable: string, how: string, words = ''): ToolError {
  const said = words === '' ? '' : ` It said: ${words}`;
  return new ToolError('BROWSER_LAUNCH_FAILED', `${executable} did not start: ${how}.${said}`, {
    hint: 'Run it by hand with --headless to see why, or point CHROMIUM_PATH to another browser.',
    details: { executable },
  });
}

async function exitOf(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => child.once('exit', resolve));
  }
  return child.signalCode === null
    ? `it ended with status ${child.exitCode ?? 'unknown'}`
    : `it was ended by ${child.signalCode}`;
}

function killGroup(child: ChildProcess, pid: number): void {
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
