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

/** Speaks MCP on standard input and output until the client leaves, and answers the exit status. */
export async function runMcp({ proxy }: { readonly proxy: string | undefined }): Promise<number> {
  const tools = toolCommands(commands);
  let opening: Promise<BrowserTool> | undefined;
  const open = (): Promise<BrowserTool> => (opening ??= openTool(proxy));

  // oxlint-disable-next-line typescript/no-deprecated -- The other one insists on schemas and errors of its own.
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
          `There is no tool ${JSON.stringify(name)}; there are ${known}.`,
        );
      }
      return callTool(command, given, open, signal);
    },
  );
  // Only now, so that the client has its answer before the machine is busy with a browser.
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

/** Settles when the client closed its side. */
function clientClosed(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    process.stdout.on('error', () => resolve());
  });
}
