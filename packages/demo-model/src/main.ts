import { parseArgs } from 'node:util';
import { startDemoModel, type DemoOptions } from './demo-server.ts';

const USAGE = `Usage: start [--port 9090] [--key <bearer key>] [--token-delay-ms 20]
Runs the demo model (demo-chat and the others) until it is interrupted.
`;
const PORT = '9090';
const TOKEN_DELAY_MS = '20';

/** Runs the demo model as a separate process. */
async function main(): Promise<void> {
  const demo = await startDemoModel(readOptions());
  process.stdout.write(`demo model: ${demo.url}/v1\n`);
  const stop = (): void => void demo.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

function readOptions(): DemoOptions {
  // Package managers also pass the `--` that separates their options.
  const args = process.argv.slice(2).filter((argument) => argument !== '--');
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: PORT },
      key: { type: 'string' },
      'token-delay-ms': { type: 'string', default: TOKEN_DELAY_MS },
    },
  });
  return {
    port: wholeNumber('port', values.port),
    tokenDelayMs: wholeNumber('token-delay-ms', values['token-delay-ms']),
    ...(values.key === undefined ? {} : { apiKey: values.key }),
  };
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new Error(`--${name} must be a whole number, not "${text}"`);
  return Number(text);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 1;
});
