import { raceAbort } from '@model-gateway/kernel';
import { FEATURES, type BrowserTool } from '../../app.ts';
import type { CommandData } from '../../commands/command.ts';
import { TOOL_VERSION } from '../../version.ts';

const API_VERSION = '1';
const ADDRESS_TIMEOUT_MS = 3_000;

/** The health of the server and its browser; sends nothing to the browser. */
export function healthData({ session, startedAt }: BrowserTool): CommandData {
  const isHealthy = session.status().failure === undefined;
  return {
    status: isHealthy ? 'ok' : 'degraded',
    version: TOOL_VERSION,
    api_version: API_VERSION,
    uptime_secs: uptime(startedAt),
  };
}

/** Information about the server, the browser and its page. */
export async function infoData(tool: BrowserTool, port: number): Promise<CommandData> {
  const { session, config, proxy, startedAt } = tool;
  await session.settled();
  const { resolved, engine, protocol, failure } = session.status();
  const address = engine === undefined ? undefined : await readAddress(tool);
  const backend = resolved?.backend ?? null;
  return {
    version: TOOL_VERSION,
    api_version: API_VERSION,
    pid: process.pid,
    debug_port: port,
    started_at_iso: new Date(startedAt).toISOString(),
    uptime_secs: uptime(startedAt),
    backend,
    backend_requested: config.backend,
    browser_engine: resolved?.kind === 'ffi' ? backend : 'chromium',
    browser_connected: engine !== undefined,
    browser_version: engine?.version ?? null,
    browser_pid: engine?.pid ?? null,
    executable: resolved === undefined ? null : fileOf(resolved),
    resolved_by: resolved?.resolvedBy ?? null,
    protocol: protocol ?? resolved?.kind ?? null,
    headless: true,
    sandbox: engine?.sandbox ?? null,
    proxy: proxy === undefined ? null : withoutLogin(proxy),
    url: address?.url ?? null,
    title: address?.title ?? null,
    viewport: engine?.viewport ?? null,
    features: FEATURES,
    ...(failure === undefined
      ? {}
      : {
          browser_error: {
            code: failure.code,
            error: failure.sentence,
            hint: failure.hint ?? null,
          },
        }),
  };
}

function fileOf(
  resolved:
    | { readonly kind: 'cdp'; readonly executable: string }
    | { readonly kind: 'ffi'; readonly library: string },
): string {
  return resolved.kind === 'cdp' ? resolved.executable : resolved.library;
}

/** The address of the page; the last known one while a long call runs. */
async function readAddress({ session }: BrowserTool) {
  const signal = AbortSignal.timeout(ADDRESS_TIMEOUT_MS);
  const options = { name: 'info', deadlineMs: ADDRESS_TIMEOUT_MS, signal, isSilent: true };
  const read = session
    .run(options, (engine, call) => engine.address(call))
    .then(
      ({ result }) => result,
      () => undefined,
    );
  return (await raceAbort(read, signal).catch(() => undefined)) ?? session.lastAddress();
}

/** Removes the user name and password from a proxy's URL. */
function withoutLogin(proxy: string): string {
  const url = new URL(proxy);
  url.username = '';
  url.password = '';
  return url.href;
}

const uptime = (startedAt: number): number => Math.round((Date.now() - startedAt) / 1000);
