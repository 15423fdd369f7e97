import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  type CallToolResult,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { BrowserTool } from '../../app.ts';
import { commands } from '../../commands/index.ts';
import { ToolError } from '../../errors.ts';
import { TOOL_VERSION } from '../../version.ts';
import { callTool, failure } from './call-tool.ts';
import { toolCommands, toolListing } from './tool-list.ts';

// Calls of one client run one after the other; the others wait in memory.
const CALLS_MAX = 100;

const NO_SANDBOX =
  '- Browser: it runs without its sandbox (as root, or because the system does not support it). Open only pages that you trust.';

interface McpServerOptions {
  /** Called when the client cancels a call, which then gets no response of the server. */
  readonly onCancel?: (request: RequestId) => void;
}

/** The MCP server for one client. `open` returns the client's browser. */
export function createMcpServer(
  open: () => Promise<BrowserTool>,
  { onCancel }: McpServerOptions = {},
) {
  const tools = toolCommands(commands);
  let calls = 0;
  let isSandboxReported = false;

  /** The first result says it if the browser runs without its sandbox. */
  async function withSandboxNote(result: CallToolResult): Promise<CallToolResult> {
    if (isSandboxReported) return result;
    const tool = await open().catch(() => undefined);
    const { engine, protocol } = tool?.session.status() ?? {};
    if (engine === undefined) return result;
    isSandboxReported = true;
    if (engine.sandbox || protocol !== 'cdp') return result;
    const { content, structuredContent } = result;
    return {
      ...result,
      content: [...content, { type: 'text', text: NO_SANDBOX }],
      structuredContent: { ...structuredContent, sandbox: false },
    };
  }

  // oxlint-disable-next-line typescript/no-deprecated -- The replacement requires its own schemas and errors.
  const server = new Server(
    { name: 'browser-tool', version: TOOL_VERSION },
    { capabilities: { tools: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toolListing) }));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params: { name, arguments: given } }, { signal, requestId }) => {
      const command = tools.find(({ tool }) => tool.name === name);
      if (command === undefined) {
        const known = tools.map(({ tool }) => tool.name).join(', ');
        throw invalidParams(`Unknown tool ${JSON.stringify(name)}; the tools are ${known}.`);
      }
      if (calls >= CALLS_MAX) return failure(tooManyCalls());
      calls += 1;
      signal.addEventListener('abort', () => onCancel?.(requestId), { once: true });
      return callTool(command, given, open, signal)
        .then(withSandboxNote)
        .finally(() => (calls -= 1));
    },
  );
  return server;
}

/** The error of the SDK would put its code before the message, and the client's SDK does that again. */
const invalidParams = (message: string): Error =>
  Object.assign(new Error(message), { code: ErrorCode.InvalidParams });

function tooManyCalls(): ToolError {
  return new ToolError('LIMIT_REACHED', `${CALLS_MAX} calls of this client are not finished.`, {
    hint: 'Wait for their results, then call again.',
    details: { calls_max: CALLS_MAX },
  });
}
