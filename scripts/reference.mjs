// Generates the reference: `pnpm build && pnpm reference`.
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderCommandLine } from './reference/render-command-line.mjs';
import { renderConfiguration } from './reference/render-configuration.mjs';
import { renderErrors } from './reference/render-errors.mjs';
import { renderRpc } from './reference/render-rpc.mjs';

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
const { createProgram } = await built('apps/cli/dist/app.js');
const { ERROR_HELP, openRpcDocument, RPC_ERROR_CODES } = await built(
  'packages/contracts/dist/index.js',
);
const { REST_ERRORS } = await built('packages/http/dist/index.js');

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
// The reference has no version: it describes the code in the same commit.
await writeFile(`${docs}rpc.md`, renderRpc(openRpcDocument({ version: '' })));
