import { createBrowserTool } from '../app.ts';
import { EXIT_OK } from '../cli.ts';
import { createToolLog, readBrowserToolConfig } from '../config.ts';
import { checkListenHost } from './http/access.ts';
import { urlOf, type ListenAddress } from './http/listen.ts';
import { endRequested } from './end-requested.ts';
import { parseBrowserBackend } from '../resolve/index.ts';
import { startMcpHttpServer } from './mcp/mcp-http-server.ts';

interface McpHttpRunOptions extends ListenAddress {
  readonly proxy: string | undefined;
}

const MS_PER_SECOND = 1_000;

/** Serves MCP over Streamable HTTP until a signal arrives, and returns the exit status. */
export async function runMcpHttp({ host, port, proxy }: McpHttpRunOptions): Promise<number> {
  const config = readBrowserToolConfig();
  parseBrowserBackend(config.backend);
  checkListenHost(host, config);
  const log = createToolLog(config);
  const end = endRequested();
  const server = await startMcpHttpServer({
    host,
    port,
    token: config.token,
    allowedHosts: config.allowedHosts,
    sessionsMax: config.mcpSessionsMax,
    idleMs: config.mcpIdleSecs * MS_PER_SECOND,
    createTool: () => createBrowserTool({ config, log, proxy: proxy ?? config.downloadProxy }),
    log,
  });
  process.stderr.write(`browser-tool serves MCP at ${urlOf({ host, port: server.port })}/mcp\n`);
  await end;
  await server.close();
  return EXIT_OK;
}
