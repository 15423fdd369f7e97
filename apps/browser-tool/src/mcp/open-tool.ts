import type { BrowserTool } from '../app.ts';

/**
 * Loads the tool and its configuration. Both come late: a client wants the answer to its first message first, and a configuration
 * that is not usable is told by the first call.
 */
export async function openTool(proxy: string | undefined): Promise<BrowserTool> {
  const [{ createBrowserTool }, { readBrowserToolConfig }, { createLog }] = await Promise.all([
    import('../app.ts'),
    import('../config.ts'),
    import('@model-gateway/kernel'),
  ]);
  const config = readBrowserToolConfig();
  const log = createLog({
    level: config.logLevel,
    app: 'browser-tool',
    // Standard output belongs to the protocol.
    destination: { write: (line) => void process.stderr.write(line) },
  });
  return createBrowserTool({ config, log, proxy: proxy ?? config.downloadProxy });
}
