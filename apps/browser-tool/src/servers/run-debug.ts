import { createBrowserTool } from '../app.ts';
import { EXIT_OK } from '../cli.ts';
import { createToolLog, readBrowserToolConfig } from '../config.ts';
import { endRequested } from './end-requested.ts';
import { parseBrowserBackend } from '../resolve/index.ts';
import { checkListenHost } from './http/access.ts';
import { urlOf, type ListenAddress } from './http/listen.ts';
import { startDebugServer } from './http/server.ts';

interface DebugOptions extends ListenAddress {
  readonly proxy: string | undefined;
}

/** Serves the HTTP API until a signal arrives, and returns the exit status. */
export async function runDebug({ port, host, proxy }: DebugOptions): Promise<number> {
  const config = readBrowserToolConfig();
  parseBrowserBackend(config.backend);
  checkListenHost(host, config);
  const log = createToolLog(config);
  const end = endRequested();
  const tool = createBrowserTool({ config, log, proxy });
  // Before the first request can ask for the browser's state.
  tool.session.warmUp();
  const server = await startDebugServer({ tool, host, port, log }).catch(async (error: unknown) => {
    await tool.close();
    throw error;
  });
  process.stdout.write(`browser-tool listens on ${urlOf({ host, port: server.port })}\n`);
  await end;
  await Promise.all([server.close(), tool.close()]);
  return EXIT_OK;
}
