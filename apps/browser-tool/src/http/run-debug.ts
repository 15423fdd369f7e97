import { StartupError } from '@model-gateway/kernel';
import { createBrowserTool } from '../app.ts';
import { EXIT_OK } from '../cli.ts';
import { createToolLog, readBrowserToolConfig } from '../config.ts';
import { endRequested } from '../process/end-requested.ts';
import { parseBrowserBackend } from '../resolve/index.ts';
import { startDebugServer } from './server.ts';

interface DebugOptions {
  readonly port: number;
  readonly host: string;
  readonly proxy: string | undefined;
}

const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** Serves the HTTP API until a signal arrives, and returns the exit status. */
export async function runDebug({ port, host, proxy }: DebugOptions): Promise<number> {
  const config = readBrowserToolConfig();
  parseBrowserBackend(config.backend);
  checkHost(host, config);
  const log = createToolLog(config);
  const end = endRequested();
  const tool = createBrowserTool({ config, log, proxy });
  // Before the first request can ask for the browser's state.
  tool.session.warmUp();
  const server = await startDebugServer({ tool, host, port, log }).catch(async (error: unknown) => {
    await tool.close();
    throw error;
  });
  process.stdout.write(
    `browser-tool listens on http://${host.includes(':') ? `[${host}]` : host}:${server.port}\n`,
  );
  await end;
  await Promise.all([server.close(), tool.close()]);
  return EXIT_OK;
}

/** Off loopback anyone could control the browser, so a token and the server's host names are required. */
function checkHost(
  host: string,
  {
    token,
    allowedHosts,
  }: { readonly token: string | undefined; readonly allowedHosts: readonly string[] },
): void {
  if (LOOPBACK.includes(host)) return;
  if (token !== undefined && allowedHosts.length > 0) return;
  throw new StartupError(
    `--host ${host} is not loopback: set BROWSER_TOKEN and BROWSER_ALLOWED_HOSTS`,
  );
}
