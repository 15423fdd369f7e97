// Puts the MCP face and the libraries that it needs into one file. A client waits for the first answer of a process that just
// started, and reading two hundred small files takes longer than everything else that is done for that answer.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const face = fileURLToPath(new URL('../dist/mcp/run-mcp.js', import.meta.url));

await build({
  entryPoints: [face],
  outfile: face,
  allowOverwrite: true,
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
          { filter: /^(\.\.\/(app|config)\.js|@model-gateway\/kernel)$/ },
          ({ path }) => ({
            path,
            external: true,
          }),
        );
      },
    },
  ],
});
