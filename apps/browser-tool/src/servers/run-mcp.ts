import { withTimeout } from '@model-gateway/kernel';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { BrowserTool } from '../app.ts';
import { EXIT_OK } from '../cli.ts';
import { endRequested } from './end-requested.ts';
import { createMcpServer } from './mcp/create-mcp-server.ts';
import { openTool } from './open-tool.ts';

const CLOSE_TIMEOUT_MS = 800;

/** Serves MCP on standard input and output until the client disconnects, and returns the exit status. */
export async function runMcp({ proxy }: { readonly proxy: string | undefined }): Promise<number> {
  let opening: Promise<BrowserTool> | undefined;
  const open = (): Promise<BrowserTool> => (opening ??= openTool(proxy));
  const server = createMcpServer(open);
  // Only now, so that the browser's start does not delay the first response.
  server.oninitialized = () => {
    open().then(
      ({ session }) => session.warmUp(),
      () => undefined,
    );
  };
  const end = Promise.race([clientClosed(), endRequested()]);
  await server.connect(new StdioServerTransport());
  await end;
  const closed = opening?.then((tool) => tool.close());
  if (closed !== undefined) await withTimeout(closed, CLOSE_TIMEOUT_MS).catch(() => undefined);
  return EXIT_OK;
}

/** Settles when the client closes its end. */
function clientClosed(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    process.stdout.on('error', () => resolve());
  });
}
