// The last step of the build of an app, in its folder: replaces its compiled entry points with bundles of the app and everything
// that it imports. Loading a few large files takes a fraction of the time of hundreds of small ones.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const sources = readdirSync('src').filter((name) => name.endsWith('main.ts'));
const { metafile } = await build({
  // The sources, not the compiler's output: that is overwritten, and a second build may run at the same time.
  entryPoints: sources.map((name) => join('src', name)),
  outdir: 'dist',
  bundle: true,
  // What is imported dynamically stays apart, so that it is read only when it is needed.
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Names stay, for stack traces. Comments would cost memory, most of all those that are not ASCII; the licenses in them are also
  // in node_modules, which is shipped too.
  minifyWhitespace: true,
  lineLimit: 200,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  external: [
    // They find files beside their own code.
    'argon2',
    'js-redis-server',
    // Only the unbundled child process of packages/db loads it.
    '@prisma/schema-engine-wasm',
    // Changes with every commit, while the bundle may come from a cache.
    '@model-gateway/http/build-hash',
  ],
  // Some of the libraries are CommonJS.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;",
  },
});

const chunks = join('dist', 'chunks');
const written = existsSync(chunks) ? readdirSync(chunks).map((name) => join(chunks, name)) : [];
for (const file of written) if (!(file in metafile.outputs)) rmSync(file);
