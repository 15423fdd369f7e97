import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { PINNED_TOOLS } from './pinned-tools.mjs';

const run = promisify(execFile);
const OLD_NODE = '20.19.0';
/** Makes the Node that runs a script say that it is an old one. */
const PRETEND_OLD = `--import=data:text/javascript,${encodeURIComponent(
  `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${OLD_NODE}'}})`,
)}`;
/** A program for the Node that was fetched. */
const PROGRAM = `
process.on('SIGINT', () => { console.log('SIGINT'); process.exit(7); });
setInterval(() => {}, 1000);
console.log(process.env.FETCHED, process.argv.slice(2).join(' '));
`;

interface Package {
  readonly archive: Buffer;
  readonly integrity: string;
}

let folder: string;
let clone: string;
let marker: string;
let registry: Server;
let registryUrl: string;
let packages: Map<string, Package>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'model-gateway-tools-'));
  clone = join(folder, 'clone');
  marker = join(folder, 'something-ran');
  packages = new Map();
  await cp(import.meta.dirname, join(clone, 'scripts'), {
    recursive: true,
    filter: (source) => !source.endsWith('.ts'),
  });
  for (const file of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'])
    await cp(join(import.meta.dirname, '..', file), join(clone, file));
  for (const group of ['apps', 'packages']) await mkdir(join(clone, group));
  await writeFile(join(clone, 'program.mjs'), PROGRAM);
  registry = createServer((request, response) => {
    const name = decodeURIComponent(request.url?.slice(1) ?? '');
    const found = packages.get(name.replace(/\.tgz$/, ''));
    if (found === undefined) response.writeHead(404).end('{}');
    else if (name.endsWith('.tgz')) response.end(found.archive);
    else response.end(JSON.stringify(description(name, found)));
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  registryUrl = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
});

afterEach(async () => {
  registry.close();
  await rm(folder, { recursive: true });
});

/** What the registry says about a package, with the hash of what it serves. */
function description(name: string, { integrity }: Package): object {
  const tool = Object.values(PINNED_TOOLS).find((each) =>
    Object.values(each.packages).some((one) => one.name === name),
  );
  const version = tool?.version ?? '';
  const dist = { tarball: `${registryUrl}/${encodeURIComponent(name)}.tgz`, integrity };
  return {
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { name, version, dist } },
  };
}

/** Publishes a program, in a package whose scripts leave a mark, for every platform. */
async function publish(tool: keyof typeof PINNED_TOOLS, program: string): Promise<Package> {
  const path = join(folder, tool, PINNED_TOOLS[tool].program);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, program, { mode: 0o755 });
  const scripts = { preinstall: `touch ${marker}`, postinstall: `touch ${marker}` };
  await writeFile(join(folder, tool, 'package', 'package.json'), JSON.stringify({ scripts }));
  const file = join(folder, `${tool}.tgz`);
  await run('tar', ['-czf', file, '-C', join(folder, tool), 'package']);
  const archive = await readFile(file);
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  for (const { name } of Object.values(PINNED_TOOLS[tool].packages))
    packages.set(name, { archive, integrity });
  return { archive, integrity };
}

/** Pins what the registry serves. */
async function pin(tool: keyof typeof PINNED_TOOLS, { integrity }: Package): Promise<void> {
  const file = join(clone, 'scripts', 'pinned-tools.mjs');
  let text = await readFile(file, 'utf8');
  for (const pinned of Object.values(PINNED_TOOLS[tool].packages))
    text = text.replace(pinned.integrity, integrity);
  await writeFile(file, text);
}

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: folder,
  npm_config_registry: registryUrl,
  npm_config_cache: join(folder, 'cache'),
});

const runOnNode24 = (...args: readonly string[]) =>
  [PRETEND_OLD, join(clone, 'scripts', 'node24.mjs'), ...args] as const;

test.each([
  { tool: 'node', args: () => runOnNode24(join(clone, 'program.mjs')) },
  { tool: 'pnpm', args: () => [join(clone, 'scripts', 'fetch-pnpm.mjs')] },
] as const)(
  'another $tool under the pinned version ends the start, and nothing of it runs',
  async ({ tool, args }) => {
    const { integrity } = await publish(tool, `#!/bin/sh\ntouch ${marker}\n`);
    const ended = run(process.execPath, args(), { env: environment(), cwd: clone });
    await expect(ended).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The npm registry served another \S+@[\d.]+ than the one that is pinned: .*Nothing of it was run; find out which registry/,
      ) as string,
    });
    const { stderr } = (await ended.catch((error: unknown) => error)) as { stderr: string };
    expect(stderr).toContain(integrity);
    expect(existsSync(marker)).toBe(false);
    expect(existsSync(join(clone, '.tools', tool))).toBe(false);
  },
);

test('an old Node fetches Node 24 once, and passes arguments, signals and the status on', async () => {
  const script = `#!/bin/sh\nFETCHED="with Node 24" exec '${process.execPath}' "$@"\n`;
  await pin('node', await publish('node', script));
  const start = async () => {
    const child = spawn(process.execPath, runOnNode24('program.mjs', 'one', 'two'), {
      env: environment(),
      cwd: clone,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      if (line === 'with Node 24 one two') child.kill('SIGINT');
    }
    expect(await ended).toEqual([7, null]);
    return lines;
  };
  const title = `Node ${PINNED_TOOLS.node.version}`;
  const isTime = (line: string): boolean => /\d:\d\d$/.test(line);
  expect((await start()).filter((line) => !isTime(line))).toEqual([
    `${title}: downloading it into .tools…`,
    'with Node 24 one two',
    'SIGINT',
  ]);
  expect(existsSync(marker)).toBe(false);
  // It needs no network from now on.
  registry.closeAllConnections();
  registry.close();
  expect(await start()).toEqual(['with Node 24 one two', 'SIGINT']);
});

test('a signal that ends the program ends what started it in the same way', async () => {
  const script = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`;
  await pin('node', await publish('node', script));
  await writeFile(
    join(clone, 'program.mjs'),
    "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);",
  );
  const child = spawn(process.execPath, runOnNode24('program.mjs'), {
    env: environment(),
    cwd: clone,
  });
  expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
});

test('package.json names the pinned pnpm, with a hash', async () => {
  const text = await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const { packageManager } = JSON.parse(text) as { readonly packageManager: string };
  const [, version] = /^pnpm@([\d.]+)\+sha512\.[\da-f]{128}$/.exec(packageManager) ?? [];
  expect(version).toBe(PINNED_TOOLS.pnpm.version);
});
