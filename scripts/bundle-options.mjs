// How the processes are bundled.
import { fileURLToPath } from 'node:url';

/** @type {import('esbuild').BuildOptions} */
export const bundleOptions = {
  bundle: true,
  // What is imported dynamically stays apart, so that it is read only when it is needed.
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Names stay, for stack traces. Comments would cost memory, most of all those that are not ASCII; the licenses in them are also
  // in node_modules, which is shipped too, or collected by scripts/pack.mjs.
  minifyWhitespace: true,
  lineLimit: 200,
  legalComments: 'none',
  logLevel: 'warning',
  alias: { 'http2-wrapper': fileURLToPath(new URL('no-http2.mjs', import.meta.url)) },
  external: [
    // They find files beside their own code.
    'argon2',
    'js-redis-server',
    // Changes with every commit, while the bundle may come from a cache.
    '@model-gateway/http/build-hash',
  ],
  // Some of the libraries are CommonJS.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;",
  },
};
