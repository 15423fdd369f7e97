import { withTimeout } from '@model-gateway/kernel';
import type { CdpConnection } from '../src/chromium/cdp-connection.ts';
import {
  launchChromium,
  type LaunchOptions,
  type RunningChromium,
} from '../src/chromium/process/launch.ts';

/** The browser of one tool. */
interface BorrowedChromium {
  readonly launch: typeof launchChromium;
  /** From now on the end of the tool does not end the browser: the next tool gets it, with one empty tab. */
  giveBack(): void;
}

// A browser that cannot be emptied is ended instead.
const EMPTY_TIMEOUT_MS = 5_000;

// Test files of one worker share modules, so that the browser of one file is there for the next.
let idle: { readonly executable: string; readonly chromium: RunningChromium } | undefined;

/** Starts a Chromium once for each worker instead of once for each tool. */
export function borrowChromium(): BorrowedChromium {
  let isGivenBack = false;

  async function launch(options: LaunchOptions): Promise<RunningChromium> {
    // These are command line flags.
    const { proxyServer, allowedOrigins, sandbox } = options;
    if (proxyServer !== undefined || allowedOrigins.length > 0 || sandbox === 'required')
      return launchChromium(options);
    const { executable } = options;
    const chromium = takeIdle(executable) ?? (await start(options));
    let ended: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      if (!isGivenBack || !(await empty(chromium)) || idle !== undefined) await chromium.end();
      else idle = { executable, chromium };
    };
    const connection = lend(chromium.connection);
    return { ...chromium, connection, end: () => (ended ??= end()) };
  }

  return {
    launch,
    giveBack() {
      isGivenBack = true;
    },
  };
}

function takeIdle(executable: string): RunningChromium | undefined {
  if (idle?.executable !== executable) return undefined;
  const { chromium } = idle;
  idle = undefined;
  return chromium;
}

async function start(options: LaunchOptions): Promise<RunningChromium> {
  const chromium = await launchChromium(options);
  chromium.unref();
  void chromium.exited.then(() => {
    if (idle?.chromium === chromium) idle = undefined;
  });
  return chromium;
}

/** The connection for one tool: closing it only stops its listeners, because a browser has one pipe for all its tools. */
function lend(connection: CdpConnection): CdpConnection {
  const stops: (() => void)[] = [];
  return {
    send: (...command) => connection.send(...command),
    closed: connection.closed,
    get lastMessageAt() {
      return connection.lastMessageAt;
    },
    listen(listener) {
      const stop = connection.listen(listener);
      stops.push(stop);
      return stop;
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

/** Replaces all tabs by an empty one and removes cookies. Returns whether the browser still works. */
function empty({ connection }: RunningChromium): Promise<boolean> {
  const work = async (): Promise<boolean> => {
    await connection.send('Target.setAutoAttach', {
      autoAttach: false,
      waitForDebuggerOnStart: false,
      flatten: true,
    });
    await replaceTabs(connection);
    await connection.send('Storage.clearCookies');
    return true;
  };
  return withTimeout(
    work().catch(() => false),
    EMPTY_TIMEOUT_MS,
    () => false,
  );
}

async function replaceTabs(connection: CdpConnection): Promise<void> {
  const { targetInfos } = await connection.send('Target.getTargets');
  const open = new Set(
    targetInfos.filter(({ type }) => type === 'page').map(({ targetId }) => targetId),
  );
  let stop = (): void => undefined;
  const allClosed = new Promise<void>((resolve) => {
    stop = connection.listen((event) => {
      if (event.method !== 'Target.targetDestroyed') return;
      open.delete(event.params.targetId);
      if (open.size === 0) resolve();
    });
  });
  await connection.send('Target.setDiscoverTargets', { discover: true });
  await connection.send('Target.createTarget', { url: 'about:blank' });
  await Promise.all(
    [...open].map((targetId) => connection.send('Target.closeTarget', { targetId })),
  );
  await allClosed;
  stop();
  await connection.send('Target.setDiscoverTargets', { discover: false });
}
