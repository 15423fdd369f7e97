import { systemClock, type Log } from '@model-gateway/kernel';
import { createCaptures } from './capture/captures.ts';
import type { launchChromium } from './chromium/process/launch.ts';
import { sweepProfiles } from './chromium/process/profile.ts';
import type { CommandContext } from './commands/command.ts';
import type { BrowserToolConfig } from './config.ts';
import type { Viewport } from './engine.ts';
import { resolveBrowser } from './resolve/index.ts';
import {
  createBrowserSession,
  type BrowserSession,
  type RunCall,
} from './session/browser-session.ts';
import { createRefRegistry } from './session/ref-registry.ts';
import { checkStartUrl, checkUrl } from './session/url-policy.ts';

const VIEWPORT_DEFAULT: Viewport = [1280, 720];

/** The optional features that this build has. */
export const FEATURES = ['auto-fetch', 'runtime-fetch', 'foreign-engine'] as const;

/** One browser and its state, used by both the HTTP and the MCP interface. */
export interface BrowserTool {
  readonly session: BrowserSession;
  readonly config: BrowserToolConfig;
  readonly proxy: string | undefined;
  readonly startedAt: number;
  /** The context of the commands of one caller. */
  context(signal: AbortSignal | undefined, run?: RunCall): CommandContext;
  close(): Promise<void>;
}

interface ToolOptions {
  readonly config: BrowserToolConfig;
  readonly log: Log;
  /** The proxy for the traffic of pages. */
  readonly proxy: string | undefined;
  /** Starts a Chromium, or returns one that runs. */
  readonly launch?: typeof launchChromium;
}

/** Creates the tool. The first command or `session.warmUp()` starts the browser. */
export function createBrowserTool({ config, log, proxy, launch }: ToolOptions): BrowserTool {
  const captures = createCaptures(systemClock);
  const refs = createRefRegistry();
  const policy = { allowFile: config.allowFile, allowedOrigins: config.allowedOrigins };
  const session = createBrowserSession({
    captures,
    log,
    resolve: (signal) => {
      // The browser does not wait for it.
      sweepProfiles(log).catch((error: unknown) =>
        log.warn({ error }, 'removing stale profiles failed'),
      );
      return resolveBrowser(config.resolve, log, signal);
    },
    launch: async (resolved, hooks) => {
      const context = {
        captures,
        refs,
        log,
        viewport: VIEWPORT_DEFAULT,
        proxy,
        allowedOrigins: config.allowedOrigins,
        sandbox: config.sandbox,
        tabsMax: config.tabsMax,
        startUrl: checkStartUrl(config.startUrl, policy),
        ...hooks,
      };
      // Loaded on demand: the engines are large, and a process needs one of them.
      if (resolved.kind === 'cdp') {
        const { launchCdpEngine } = await import('./chromium/engine.ts');
        return launchCdpEngine(resolved, context, launch);
      }
      const { launchForeignEngine } = await import('./foreign/engine.ts');
      return launchForeignEngine(resolved, context);
    },
  });
  return {
    session,
    config,
    proxy,
    startedAt: Date.now(),
    context: (signal, run = session.run) => ({
      run,
      captures,
      engine: () => session.engine(),
      checkUrl: (text) => checkUrl(text, policy),
      signal,
    }),
    close: () => session.close(),
  };
}
