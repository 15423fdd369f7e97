// Bundles the MCP server and its libraries into one file. A client waits for the first response of a new process, and reading two
// hundred small files would take most of that time.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const fileAt = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  // The source, not the compiler's output: that file is overwritten, and a second build may run at the same time.
  entryPoints: [fileAt('../src/servers/run-mcp.ts')],
  outfile: fileAt('../dist/servers/run-mcp.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
  // Some of the libraries are CommonJS and require Node's built-in modules.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);",
  },
  plugins: [
    {
      name: 'load-the-rest-later',
      setup: (bundler) => {
        bundler.onResolve(
          { filter: /^(\.\.\/(app|config)\.ts|@model-gateway\/kernel)$/ },
          ({ path }) => ({
            path: path.replace(/\.ts$/, '.js'),
            external: true,
          }),
        );
      },
    },
  ],
});
