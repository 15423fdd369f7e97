// Generates the reference: `pnpm build && node scripts/reference.mjs`.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderCommandLine } from './reference/render-command-line.mjs';
import { renderConfiguration } from './reference/render-configuration.mjs';
import { renderErrors } from './reference/render-errors.mjs';
import { renderKindsModule, renderKindsTable } from './reference/render-kinds.mjs';
import { renderRpc } from './reference/render-rpc.mjs';
import { renderTroubleshooting } from './reference/render-troubleshooting.mjs';
import { START_PROBLEMS } from './start-problems.mjs';

const PROCESSES = [
  'standalone',
  'gateway',
  'rpc',
  'agent-tunnel',
  'video-worker',
  'gpu-agent',
  'browser-tool',
  'cli',
];
const docs = fileURLToPath(new URL('../docs/', import.meta.url));
const built = (path) => import(new URL(`../${path}`, import.meta.url).href);

const processes = await Promise.all(
  PROCESSES.map(async (name) => {
    const config = await built(`apps/${name}/dist/config.js`);
    return { name, settings: config.processSettings };
  }),
);
const { kindViews } = await built('packages/backends/dist/index.js');
const kindsPage = `${docs}backends/README.md`;
await writeFile(kindsPage, renderKindsTable(await readFile(kindsPage, 'utf8'), kindViews()));
await writeFile(
  new URL('../apps/cli/src/commands/backend-kinds.ts', import.meta.url),
  renderKindsModule(kindViews()),
);
// The source, with what was just written.
const { createProgram } = await built('apps/cli/src/app.ts');
const { BACKEND_HELP, ERROR_HELP, openRpcDocument, RPC_ERROR_CODES } = await built(
  'packages/contracts/dist/index.js',
);
const { REST_ERRORS } = await built('packages/http/dist/index.js');
const { STARTUP_PROBLEMS } = await built('packages/kernel/dist/index.js');

await mkdir(`${docs}reference/`, { recursive: true });
await writeFile(`${docs}reference/configuration.md`, renderConfiguration(processes));
await writeFile(
  `${docs}reference/command-line.md`,
  renderCommandLine(createProgram(process, () => () => Promise.resolve())),
);
await writeFile(
  `${docs}reference/errors.md`,
  renderErrors(ERROR_HELP, REST_ERRORS, RPC_ERROR_CODES),
);
const text = await readFile(new URL('reference/troubleshooting.txt', import.meta.url), 'utf8');
await writeFile(
  `${docs}troubleshooting.md`,
  renderTroubleshooting(text, {
    startProblems: START_PROBLEMS,
    startupProblems: STARTUP_PROBLEMS,
    errors: ERROR_HELP,
    backends: BACKEND_HELP,
    rest: REST_ERRORS,
    rpc: RPC_ERROR_CODES,
  }),
);
// The reference has no version: it describes the code in the same commit.
await writeFile(`${docs}rpc.md`, renderRpc(openRpcDocument({ version: '' })));
