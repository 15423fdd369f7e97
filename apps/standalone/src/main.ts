import { SERVICE_VERSION } from '@model-gateway/http';
import { runProcess } from '@model-gateway/kernel';
import { openStandalone } from './app.ts';
import { readStandaloneConfig } from './config.ts';
import { programOf, replyToArguments } from './program-arguments.ts';

const [, script = '', ...args] = process.argv;
const reply = replyToArguments(args, programOf(script, process.cwd()), SERVICE_VERSION);
if (reply === undefined) {
  await runProcess({ name: 'standalone', readConfig: readStandaloneConfig, open: openStandalone });
} else {
  (reply.status === 0 ? process.stdout : process.stderr).write(reply.text);
  process.exitCode = reply.status;
}
