import { SERVICE_VERSION } from '@model-gateway/http';
import { runProcess } from '@model-gateway/kernel';
import { openStandalone } from './app.ts';
import { readStandaloneConfig } from './config.ts';
import { programOf, replyToArguments } from './program-arguments.ts';

/** Runs the service until a signal, or replies to arguments. Its other processes run the same script. */
export async function runStandalone(script: string): Promise<void> {
  const [, called = '', ...args] = process.argv;
  const reply = replyToArguments(args, programOf(called, process.cwd()), SERVICE_VERSION);
  if (reply === undefined) {
    await runProcess({
      name: 'standalone',
      readConfig: readStandaloneConfig,
      open: (config, lifecycle, log) => openStandalone({ ...config, script }, lifecycle, log),
    });
  } else {
    (reply.status === 0 ? process.stdout : process.stderr).write(reply.text);
    process.exitCode = reply.status;
  }
}
