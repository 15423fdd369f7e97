import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const home = fileURLToPath(new URL('../..', import.meta.url));

/** What a process came to. */
export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A copy of the built tool, whose output a test may change. */
export interface BuildCopy {
  readonly output: string;
  /** Runs what the build ends with; the signal kills it. */
  finishBuild(environment: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Ended>;
  /** Runs the tool. */
  run(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended>;
  remove(): Promise<void>;
}

/** Copies the output of the build. */
export async function copyBuild(): Promise<BuildCopy> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'build-')));
  const output = join(folder, 'dist');
  // Much cheaper than the function of Node.
  await promisify(execFile)('cp', ['-r', join(home, 'dist'), output]);
  await copyFile(join(home, 'package.json'), join(folder, 'package.json'));
  await symlink(join(home, 'node_modules'), join(folder, 'node_modules'));
  const run = (
    program: string,
    args: readonly string[],
    environment: object,
    signal?: AbortSignal,
  ): Promise<Ended> =>
    new Promise((resolve) => {
      const env = { HOME: folder, PATH: '/usr/bin:/bin', ...environment };
      execFile(
        process.execPath,
        [join(output, program), ...args],
        { env, killSignal: 'SIGKILL', ...(signal === undefined ? {} : { signal }) },
        (error, stdout, stderr) => {
          const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
          resolve({ status, stdout, stderr });
        },
      );
    });
  return {
    output,
    finishBuild: (environment, signal) => run('finish-build.js', [], environment, signal),
    run: (args, environment) => run('main.js', args, environment),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
