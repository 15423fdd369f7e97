import { createBrowserTool } from '../app.ts';
import { EXIT_OK, type HttpInvocation } from '../cli.ts';
import { createToolLog, readBrowserToolConfig } from '../config.ts';
import { parseBrowserBackend } from '../resolve/index.ts';
import { endRequested } from './end-requested.ts';
import { checkListenHost } from './http/access.ts';
import { startDebugServer } from './http/debug-server.ts';
import { urlOf } from './http/listen.ts';
import { startMcpHttpServer } from './http/mcp-server.ts';

const MS_PER_SECOND = 1_000;

/** Serves the HTTP API, or MCP over HTTP, until a signal arrives, and returns the exit status. */
export async function runHttp({ kind, port, host, proxy }: HttpInvocation): Promise<number> {
  const config = readBrowserToolConfig();
  parseBrowserBackend(config.backend);
  checkListenHost(host, config);
  const log = createToolLog(config);
  const end = endRequested();
  const close = kind === 'debug' ? await serveCommands() : await serveMcp();
  await end;
  await close();
  return EXIT_OK;

  async function serveCommands(): Promise<() => Promise<unknown>> {
    const tool = createBrowserTool({ config, log, proxy });
    // Before the first request can ask for the browser's state.
    tool.session.warmUp();
    try {
      const server = await startDebugServer({ tool, host, port, log });
      process.stdout.write(`browser-tool listens on ${urlOf({ host, port: server.port })}\n`);
      return () => Promise.all([server.close(), tool.close()]);
    } catch (error) {
      await tool.close();
      throw error;
    }
  }

  async function serveMcp(): Promise<() => Promise<unknown>> {
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
    return () => server.close();
  }
}
