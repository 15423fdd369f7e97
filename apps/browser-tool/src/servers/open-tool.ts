import type { BrowserTool } from '../app.ts';
import { ToolError } from '../errors.ts';

/**
 * Loads the tool and its configuration after the first response, because a client waits for that. The first call reports an invalid
 * configuration.
 */
export async function openTool(proxy: string | undefined): Promise<BrowserTool> {
  const [{ createBrowserTool }, { createToolLog, readBrowserToolConfig }] = await Promise.all([
    import('../app.ts'),
    import('../config.ts'),
  ]);
  const config = readConfig(readBrowserToolConfig);
  const log = createToolLog(config);
  return createBrowserTool({ config, log, proxy: proxy ?? config.downloadProxy });
}

/** Reports an invalid setting as an invalid argument. */
function readConfig<Config>(read: () => Config): Config {
  try {
    return read();
  } catch (error) {
    throw new ToolError(
      'INVALID_ARGUMENT',
      error instanceof Error ? error.message : String(error),
      {
        hint: 'Correct the environment of the tool and restart it.',
        cause: error,
      },
    );
  }
}
