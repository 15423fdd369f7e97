import { parseArgs } from 'node:util';
import { startChatUpstream, type ChatUpstreamOptions } from './chat/chat-upstream.ts';

const USAGE = `Usage: start [--port 9090] [--key <bearer key>] [--token-delay-ms 20]
Runs the chat-compatible demo upstream (demo-chat and the other demo models) until it is interrupted.
`;
const PORT = '9090';
const TOKEN_DELAY_MS = '20';

/** Runs the demo upstream as a separate process. */
async function main(): Promise<void> {
  const upstream = await startChatUpstream(readOptions());
  process.stdout.write(`chat-compatible demo upstream: ${upstream.url}/v1\n`);
  const stop = (): void => void upstream.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

function readOptions(): ChatUpstreamOptions {
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
    keepRequests: 0,
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
