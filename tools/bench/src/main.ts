import { benchBrowser, USAGE as BROWSER } from './browser/main.ts';
import { compareCheckouts, USAGE as COMPARE } from './gateway/compare.ts';
import { benchGateway, USAGE as GATEWAY } from './gateway/main.ts';

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  gateway: benchGateway,
  compare: compareCheckouts,
  browser: benchBrowser,
};

const [name = '', ...args] = process.argv.slice(2);
const command = COMMANDS[name];
try {
  if (command === undefined || args.includes('--help'))
    process.stdout.write([GATEWAY, COMPARE, BROWSER].join('\n'));
  else await command(args);
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
