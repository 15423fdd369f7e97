#!/usr/bin/env node
import {
  EXIT_FAILED,
  EXIT_OK,
  EXIT_USAGE,
  parseCommandLine,
  USAGE,
  type Invocation,
} from './cli.ts';
import { ToolError } from './errors.ts';

// Each command loads only what it needs, because an MCP client waits for the first response of a new process.
async function run(invocation: Invocation): Promise<number> {
  switch (invocation.kind) {
    case 'help':
      process.stdout.write(USAGE);
      return EXIT_OK;
    case 'version': {
      const { TOOL_VERSION } = await import('./version.ts');
      process.stdout.write(`${TOOL_VERSION}\n`);
      return EXIT_OK;
    }
    case 'debug':
    case 'mcp-http': {
      const { runHttp } = await import('./servers/run-http.ts');
      return runHttp(invocation);
    }
    case 'mcp': {
      const { runMcp } = await import('./servers/run-mcp.ts');
      return runMcp(invocation);
    }
    case 'bundle': {
      const { runBundle } = await import('./run-bundle.ts');
      return runBundle(invocation.args);
    }
    case 'problem':
      process.stderr.write(`browser-tool: ${invocation.message}\n\n${USAGE}`);
      return EXIT_USAGE;
  }
}

run(parseCommandLine(process.argv.slice(2))).then(
  (status) => process.exit(status),
  (error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    const message = error instanceof ToolError ? `${error.code}: ${error.sentence}` : text;
    process.stderr.write(`browser-tool: ${message}\n`);
    process.exit(EXIT_FAILED);
  },
);
