import { basename, relative } from 'node:path';

/** What the program prints instead of starting the service. */
export interface ProgramOutput {
  readonly text: string;
  readonly status: 0 | 2;
}

/** The service has settings and no arguments; help and version are answered, others refused. */
export function replyToArguments(
  args: readonly string[],
  program: string,
  version: string,
): ProgramOutput | undefined {
  const [argument] = args;
  switch (argument) {
    case undefined:
      return undefined;
    case '--help':
    case '-h':
      return { text: usageOf(program), status: 0 };
    case '--version':
    case '-v':
      return { text: `${version}\n`, status: 0 };
    default:
      return { text: `unknown argument ${argument}\n\n${usageOf(program)}`, status: 2 };
  }
}

/** How a person has called the program, from the path of its script. */
export function programOf(script: string, folder: string): string {
  const name = basename(script, '.mjs');
  if (name === 'model-gateway') return 'npx model-gateway';
  // `npm start` runs the service in the process of its own script.
  return name === 'start' ? 'npm start --' : `node ${relative(folder, script)}`;
}

function usageOf(program: string): string {
  const width = `${program} --version`.length + 3;
  const line = (args: string, text: string): string =>
    `  ${`${program} ${args}`.padEnd(width)}${text}`;
  return `Model Gateway: one OpenAI-compatible API for every model backend.

${line('', 'starts the service on http://127.0.0.1:8080, with embedded stores and a demo model')}
${line('--help', 'shows this')}
${line('--version', 'shows the version')}

Settings are environment variables, for example:
  SERVICE_PORT=8090             the port
  SERVICE_HOST=0.0.0.0          the address to listen on; put TLS in front of it
  SERVICE_DATA_DIR=~/gateway    embedded stores, generated secrets and the usage journal; else .data in this folder
  DATABASE_URL, REDIS_URL       stores of your own
  SERVICE_DEMO=0                no demo model
`;
}
