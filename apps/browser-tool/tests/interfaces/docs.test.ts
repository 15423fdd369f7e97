import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, waitUntil } from '@model-gateway/testkit';
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import { parseCommandLine } from '../../src/cli.ts';
import { commands } from '../../src/commands/index.ts';
import { processSettings } from '../../src/config.ts';
import { toolCommands, toolParams } from '../../src/servers/mcp/tool-list.ts';
import { HTTP_STATUS } from '../../src/errors.ts';
import { missingOutput, readGuide, type Block } from './guide.ts';
import { endToolProcesses, initialize, startToolProcess } from '../tool-process.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const CLONE = '/path/to/model-gateway';
const PORT = '4010';
const MCP_PORT = '8091';
const BLOCK_TIMEOUT_MS = 180_000;
// One after the other: a shell that prints everything on lines of its own.
const PREAMBLE = 'set -euo pipefail\ncurl() { command curl --max-time 60 "$@"; echo; }\n';

const guide = readGuide(ROOT, 'docs/browser-tool.md');
const shells = new Set<ChildProcess>();
let folder: string;
let port: string;
let mcpPort: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'browser-guide-'));
  [port, mcpPort] = [String(await freePort()), String(await freePort())];
});

afterAll(async () => {
  endToolProcesses();
  await Promise.all([...shells].map(endShell));
  await rm(folder, { recursive: true });
});

/** A text of the guide as it is true here. */
const translate = (text: string): string =>
  text
    .replaceAll(PORT, port)
    .replaceAll(MCP_PORT, mcpPort)
    .replaceAll(CLONE, ROOT)
    // The reader stands in the clone; the test does not, because of what the commands write.
    .replaceAll('pnpm --filter', `pnpm -C '${ROOT}' --filter`);

interface Shell {
  readonly process: ChildProcess;
  printed(): string;
}

function startShell(text: string): Shell {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('bash', ['--noprofile', '--norc', '-c', `${PREAMBLE}${translate(text)}`], {
    cwd: folder,
    env: { PATH, HOME, BROWSER_SKIP_BROWSER_FETCH: '1' },
    // A group of its own, so that whatever it starts can be ended with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const listen = (chunk: Buffer): void => {
    said += chunk.toString();
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  shells.add(child);
  return { process: child, printed: () => said };
}

async function endShell(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  // Its output is closed when the last of what it started is gone.
  const closed = once(child, 'close');
  process.kill(-child.pid, 'SIGTERM');
  await closed;
}

async function run(block: Block): Promise<void> {
  const shell = startShell(block.text);
  const isShown = (): boolean =>
    block.output !== undefined &&
    missingOutput({ ...block.output, text: translate(block.output.text) }, shell.printed()) ===
      undefined;
  const hasEnded = (): boolean => shell.process.exitCode !== null;
  await waitUntil(() => hasEnded() || (block.isBackground && isShown()), {
    timeoutMs: BLOCK_TIMEOUT_MS,
    what: `the end of ${block.place}`,
  });
  // What is printed may arrive after the end.
  if (hasEnded()) await waitUntil(() => shell.process.stdout?.readableEnded === true);
  const isFailed = hasEnded() && shell.process.exitCode !== 0;
  const isAsShown =
    block.output === undefined ? !shell.printed().includes('"ok":false') : isShown();
  if (isFailed || !isAsShown) {
    throw new Error(`${block.place} did not do what the guide shows:\n${shell.printed()}`);
  }
}

test('the commands of the guide work as documented', async () => {
  const blocks = guide.blocks.filter(({ language, isNotRun }) => language === 'sh' && !isNotRun);
  expect(blocks.length).toBeGreaterThan(10);
  for (const block of blocks) await run(block);
});

test('the configurations for MCP clients start the tool, which lists twelve tools', async () => {
  const files = guide.blocks.filter(({ text }) => /\bcommand\b/.test(text) && text.includes(CLONE));
  const wanted = files
    .filter(({ language }) => language !== 'sh')
    .map(({ language, text }) =>
      commandIn(language === 'toml' ? parseToml(text) : JSON.parse(text)),
    );
  expect(wanted).toHaveLength(6);
  const main = join('apps', 'browser-tool', 'dist', 'main.js');
  for (const command of wanted) expect(command).toEqual(['node', `${CLONE}/${main}`, 'mcp']);

  const tool = startToolProcess({ args: ['mcp'] });
  await initialize(tool);
  const { result } = await tool.request('tools/list');
  expect((result as { readonly tools: readonly unknown[] }).tools).toHaveLength(12);
  tool.closeInput();
  expect(await tool.exited).toBe(0);
});

test('the configurations by URL have the address that mcp --http has by default', () => {
  const address = `http://127.0.0.1:${MCP_PORT}/mcp`;
  expect(parseCommandLine(['mcp', '--http'])).toMatchObject({ port: Number(MCP_PORT) });
  const files = guide.blocks.filter(
    ({ language, text }) => language !== 'sh' && /\burl\b/.test(text),
  );
  const urls = files
    .filter(({ text }) => text.includes('/mcp'))
    .map(({ language, text }) => urlIn(language === 'toml' ? parseToml(text) : JSON.parse(text)));
  expect(urls).toEqual([address, address, address, address]);
});

/** The URL in a client's configuration, wherever that client has it. */
function urlIn(configuration: unknown): string | undefined {
  if (typeof configuration !== 'object' || configuration === null) return undefined;
  const { url } = configuration as { readonly url?: string };
  return (
    url ??
    Object.values(configuration)
      .map(urlIn)
      .find((found) => found !== undefined)
  );
}

/** The command line in a client's configuration, wherever that client has it. */
function commandIn(configuration: unknown): readonly string[] | undefined {
  if (typeof configuration !== 'object' || configuration === null) return undefined;
  const { command, args = [] } = configuration as {
    readonly command?: string | readonly string[];
    readonly args?: readonly string[];
  };
  if (command !== undefined) return [command, args].flat();
  return Object.values(configuration)
    .map(commandIn)
    .find((found) => found !== undefined);
}

test('the guide has every tool with its arguments, every route, every operation and every code', () => {
  const missing: string[] = [];
  const need = (where: string, what: string): void => {
    if (!where.includes(what)) missing.push(what);
  };
  const rows = guide.text.split('\n').filter((line) => line.startsWith('|'));
  for (const { tool } of toolCommands(commands)) {
    const row = rows.find((line) => line.startsWith(`| \`${tool.name}\` `)) ?? '';
    for (const field of tool.fields) {
      if (!new RegExp(`\`${field}[!=\`]`).test(row)) missing.push(`${tool.name}: ${field}`);
    }
  }
  for (const { http } of commands) if (http !== undefined) need(guide.text, http.path);
  for (const path of ['/health', '/info', '/batch', '/events']) need(guide.text, `${path}\``);
  for (const { name, inBatch } of commands) {
    if (inBatch === true)
      need(rows.find((line) => line.includes('POST /batch')) ?? '', `\`${name}\``);
  }
  for (const code of Object.keys(HTTP_STATUS)) need(guide.text, `\`${code}\``);
  expect(missing).toEqual([]);
});

test('the defaults that the guide names are those of the tools', () => {
  const rows = guide.text.split('\n').filter((line) => line.startsWith('| `browser_'));
  const named = rows.flatMap((row) => {
    const tool = /`(browser_\w+)`/.exec(row)?.[1];
    return [...row.matchAll(/`(\w+)=(\w+)`/g)].map(([name]) => `${tool} ${name}`);
  });
  const real = toolCommands(commands).flatMap((command) => {
    const { properties = {} } = z.toJSONSchema(toolParams(command), {
      io: 'input',
      unrepresentable: 'any',
    }) as { readonly properties?: Record<string, { readonly default?: unknown }> };
    return Object.entries(properties)
      .filter(([, { default: value }]) => value !== undefined && !Array.isArray(value))
      .map(([field, { default: value }]) => `${command.tool.name} \`${field}=${String(value)}\``);
  });
  expect(named.toSorted()).toEqual(real.toSorted());
});

test('the guide names no variable that there is not', () => {
  const known = new Set<string>(Object.values(processSettings).map(({ env }) => env));
  const named =
    guide.text.match(/\b(BROWSER_(?!NOT_FOUND|LAUNCH|CRASHED)[A-Z_]*[A-Z]|[A-Z]+_PATH)\b/g) ?? [];
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
});
