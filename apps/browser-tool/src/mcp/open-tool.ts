import type { BrowserTool } from '../app.ts';
import { ToolError } from '../tool-error.ts';

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
  const config = usable(readBrowserToolConfig);
  const log = createLog({
    level: config.logLevel,
    app: 'browser-tool',
    // Standard output belongs to the protocol.
    destination: { write: (line) => void process.stderr.write(line) },
  });
  return createBrowserTool({ config, log, proxy: proxy ?? config.downloadProxy });
}

/** A variable that makes no sense is no failure of the tool. */
function usable<Config>(read: () => Config): Config {
  try {
    return read();
  } catch (error) {
    throw new ToolError(
      'INVALID_ARGUMENT',
      error instanceof Error ? error.message : String(error),
      {
        hint: 'Correct the environment of the tool and start it again.',
        cause: error,
      },
    );
  }
}
