import { withTimeout } from '@model-gateway/kernel';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import type { BrowserTool } from '../app.ts';
import { EXIT_OK } from '../cli.ts';
import { commands } from '../commands/index.ts';
import { endRequested } from '../process/end-requested.ts';
import { TOOL_VERSION } from '../version.ts';
import { callTool } from './call-tool.ts';
import { openTool } from './open-tool.ts';
import { toolCommands, toolListing } from './tool-list.ts';

const CLOSE_TIMEOUT_MS = 800;

/** Serves MCP on standard input and output until the client disconnects, and returns the exit status. */
export async function runMcp({ proxy }: { readonly proxy: string | undefined }): Promise<number> {
  const tools = toolCommands(commands);
  let opening: Promise<BrowserTool> | undefined;
  const open = (): Promise<BrowserTool> => (opening ??= openTool(proxy));

  // oxlint-disable-next-line typescript/no-deprecated -- The replacement requires its own schemas and errors.
  const server = new Server(
    { name: 'browser-tool', version: TOOL_VERSION },
    { capabilities: { tools: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toolListing) }));
  server.setRequestHandler(
    CallToolRequestSchema,
    ({ params: { name, arguments: given } }, { signal }) => {
      const command = tools.find(({ tool }) => tool.name === name);
      if (command === undefined) {
        const known = tools.map(({ tool }) => tool.name).join(', ');
        throw new McpError(
          ErrorCode.InvalidParams,
          `Unknown tool ${JSON.stringify(name)}; the tools are ${known}.`,
        );
      }
      return callTool(command, given, open, signal);
    },
  );
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
