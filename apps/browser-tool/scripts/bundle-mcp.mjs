// Puts the MCP face and the libraries that it needs into one file. A client waits for the first answer of a process that just
// started, and reading two hundred small files takes longer than everything else that is done for that answer.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const fileAt = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  // Not what the compiler made of it: that file is written over, and a second build may be under way.
  entryPoints: [fileAt('../src/mcp/run-mcp.ts')],
  outfile: fileAt('../dist/mcp/run-mcp.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
  // Some of the libraries are CommonJS and ask for Node's own modules.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);",
  },
  plugins: [
    {
      name: 'the-rest-comes-later',
      setup: (plan) => {
        plan.onResolve(
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
