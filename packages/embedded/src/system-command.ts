import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SYSTEM_ENVIRONMENT } from '@model-gateway/kernel';

const execute = promisify(execFile);

/** As whom a program runs; as ourselves when it is not said. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** Runs a program to its end and gives what it wrote; throws when it fails. */
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
