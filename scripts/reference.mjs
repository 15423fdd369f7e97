// Writes the generated reference anew: `pnpm build && pnpm reference`.
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderConfiguration } from './reference/render-configuration.mjs';

const PROCESSES = ['standalone', 'gateway', 'rpc', 'agent-tunnel', 'video-worker'];
const folder = fileURLToPath(new URL('../docs/reference/', import.meta.url));

const processes = await Promise.all(
  PROCESSES.map(async (name) => {
    const config = await import(new URL(`../apps/${name}/dist/config.js`, import.meta.url).href);
    return { name, settings: config.processSettings };
  }),
);
await mkdir(folder, { recursive: true });
await writeFile(`${folder}configuration.md`, renderConfiguration(processes));
