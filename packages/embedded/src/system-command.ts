import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SYSTEM_ENVIRONMENT } from '@model-gateway/kernel';

const execute = promisify(execFile);

/** The user and group of a process. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** Runs a program and returns its standard output; throws if it fails. */
export async function runSystemCommand(
  command: readonly string[],
  identity?: Identity,
): Promise<string> {
  const [program = '', ...args] = command;
  const { stdout } = await execute(program, args, {
    cwd: '/',
    env: SYSTEM_ENVIRONMENT,
    ...identity,
  });
  return stdout;
}
