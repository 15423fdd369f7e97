import { createSequence, raceAbort, type Log } from '@model-gateway/kernel';
import type { Captures } from '../capture/captures.ts';
import type {
  BrowserEngine,
  EngineCall,
  CallNotes,
  DialogAnswer,
  EngineStatus,
  PageAddress,
} from '../engine.ts';
import type { ResolvedBrowser } from '../resolve/index.ts';
import { ToolError } from '../errors.ts';

/** The options of one call. */
export interface CallOptions {
  /** Its name in messages. */
  readonly name: string;
  readonly deadlineMs: number;
  readonly dialog?: DialogAnswer | undefined;
  readonly promptText?: string | undefined;
  /** Whether its result does not include the notes; they are then reported with the next call. */
  readonly isSilent?: boolean;
  /** Aborted when the caller disconnects. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a call and its notes. */
export interface CallOutcome<Result> {
  readonly result: Result;
  readonly notes: CallNotes;
  /** Whether the browser or its tab had to be restarted for it. */
  readonly restarted: boolean;
}

export type RunCall = <Result>(
  options: CallOptions,
  work: (engine: BrowserEngine, call: EngineCall) => Promise<Result>,
) => Promise<CallOutcome<Result>>;

/** The known state of the browser; reading it sends nothing to the browser. */
export interface SessionStatus {
  readonly resolved: ResolvedBrowser | undefined;
  readonly engine: EngineStatus | undefined;
  readonly protocol: 'cdp' | 'ffi' | undefined;
  /** Why there is no browser. */
  readonly failure: ToolError | undefined;
}

/** The browser of a tool: started when needed, restarted after a crash, one call at a time. */
export interface BrowserSession {
  readonly captures: Captures;
  /** Starts the browser in the background. */
  warmUp(): void;
  /** Runs a call after the earlier ones have finished. */
  run: RunCall;
  /** Runs several calls without other calls in between. */
  exclusive<Result>(work: (run: RunCall) => Promise<Result>): Promise<Result>;
  status(): SessionStatus;
  /** Settles when the current start of the browser has succeeded or failed. */
  settled(): Promise<void>;
  /** The engine, if there is one, without waiting for other calls. */
  engine(): BrowserEngine | undefined;
  /** The last known address of the page. */
  lastAddress(): PageAddress | undefined;
  close(): Promise<void>;
}

interface SessionDependencies {
  readonly captures: Captures;
  readonly log: Log;
  /** The signal is aborted when the process ends while it is still searching or downloading. */
  readonly resolve: (signal: AbortSignal) => Promise<ResolvedBrowser>;
  readonly launch: (
    resolved: ResolvedBrowser,
    hooks: { readonly onEnd: (reason: string) => void; readonly signal: AbortSignal },
  ) => Promise<BrowserEngine>;
}

export function createBrowserSession({
  captures,
  log,
  resolve,
  launch,
}: SessionDependencies): BrowserSession {
  const queue = createSequence();
  const closing = new AbortController();
  let resolved: ResolvedBrowser | undefined;
  let engine: BrowserEngine | undefined;
  let starting: Promise<BrowserEngine> | undefined;
  let failure: ToolError | undefined;
  // The browser ended and the restart has not been reported yet.
  let isLost = false;
  // The last call failed in a way that may mean a hanging tab.
  let mayHang = false;
  let lastAddress: PageAddress | undefined;
  let hasStarted = false;

  async function start(): Promise<BrowserEngine> {
    resolved = await resolve(closing.signal);
    // Console output of the previous browser belongs to an earlier page.
    if (hasStarted) captures.console.startPage();
    const started = await launch(resolved, {
      signal: closing.signal,
      onEnd: (reason) => {
        log.warn({ reason }, 'the browser ended');
        engine = undefined;
        isLost = true;
      },
    });
    hasStarted = true;
    if (closing.signal.aborted) {
      await started.close();
      throw closing.signal.reason;
    }
    engine = started;
    failure = undefined;
    return started;
  }

  function ensureEngine(): Promise<BrowserEngine> {
    if (engine !== undefined) return Promise.resolve(engine);
    starting ??= start()
      .catch((error: unknown) => {
        failure = error instanceof ToolError ? error : launchError(error);
        if (!closing.signal.aborted) log.warn({ error: failure }, 'starting the browser failed');
        throw failure;
      })
      .finally(() => (starting = undefined));
    starting.catch(() => undefined);
    return starting;
  }

  const runNow: RunCall = async (options, work) => {
    closing.signal.throwIfAborted();
    const notes: CallNotes = { dialogs: [], downloads: [], openedTab: undefined };
    const started = (): Promise<BrowserEngine> =>
      withDeadline(ensureEngine(), options, closing.signal, 'The browser is still starting');
    let current = await started();
    let restarted = isLost;
    // A tab that crashed while no call was running is no failure of this one.
    if (mayHang || current.status().isTabCrashed) {
      mayHang = false;
      restarted = (await current.ensureResponsive()) || restarted;
      // A browser that could not be used any more was ended.
      if (engine !== current) current = await started();
    }
    // A call without a report leaves it to the next one.
    isLost = restarted && options.isSilent === true;
    const deadline = deadlineOf(options);
    const signals = [
      deadline.signal,
      closing.signal,
      ...(options.signal === undefined ? [] : [options.signal]),
    ];
    const signal = AbortSignal.any(signals);
    try {
      const { dialog, promptText, isSilent = false } = options;
      const call: EngineCall = { signal, notes, dialog, promptText, isSilent };
      const result = await work(current, call);
      lastAddress = addressIn(result) ?? lastAddress;
      return { result, notes, restarted };
    } catch (error) {
      const failed = withContext(asToolError(error, options), notes, restarted);
      mayHang = failed.code === 'TIMEOUT' || failed.code === 'BROWSER_CRASHED';
      throw failed;
    } finally {
      deadline.stop();
    }
  };

  return {
    captures,
    warmUp() {
      void ensureEngine().catch(() => undefined);
    },
    run: (options, work) =>
      queue.run(async () => {
        options.signal?.throwIfAborted();
        return runNow(options, work);
      }),
    exclusive: (work) => queue.run(() => work(runNow)),
    status: () => ({
      resolved,
      engine: engine?.status(),
      protocol: engine?.protocol,
      failure: engine === undefined ? failure : undefined,
    }),
    async settled() {
      await starting?.catch(() => undefined);
    },
    engine: () => engine,
    lastAddress: () => lastAddress,
    async close() {
      closing.abort(new ToolError('BROWSER_CRASHED', 'The tool is shutting down.'));
      await starting?.catch(() => undefined);
      await engine?.close();
      engine = undefined;
    },
  };
}

function addressIn(result: unknown): PageAddress | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { url, title } = result as Partial<PageAddress>;
  return typeof url === 'string' && typeof title === 'string' ? { url, title } : undefined;
}

/** Waits at most until the deadline of the call; the work continues after that. */
async function withDeadline<Result>(
  work: Promise<Result>,
  options: CallOptions,
  closing: AbortSignal,
  what: string,
): Promise<Result> {
  const deadline = deadlineOf(options, what);
  const signal = AbortSignal.any([deadline.signal, closing]);
  return raceAbort(work, signal).finally(() => deadline.stop());
}

function deadlineOf(
  { name, deadlineMs }: CallOptions,
  what = `${name} did not finish`,
): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const message = what.includes('starting')
      ? `${what} after ${deadlineMs} ms.`
      : `${what} within ${deadlineMs} ms.`;
    controller.abort(
      new ToolError('TIMEOUT', message, {
        hint: 'Call again; a hanging page is replaced by a new one.',
        details: { deadline_ms: deadlineMs },
      }),
    );
  }, deadlineMs);
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}

function asToolError(error: unknown, { name }: CallOptions): ToolError {
  if (error instanceof ToolError) return error;
  if (error instanceof DOMException) {
    return new ToolError('TIMEOUT', `${name} was cancelled because the caller disconnected.`);
  }
  return new ToolError(
    'INTERNAL',
    `${name} failed: ${error instanceof Error ? error.message : String(error)}`,
    {
      cause: error,
    },
  );
}

function launchError(error: unknown): ToolError {
  const message = error instanceof Error ? error.message : String(error);
  return new ToolError('BROWSER_LAUNCH_FAILED', `The browser could not be started: ${message}`, {
    cause: error,
  });
}

/** Adds the notes to an error, such as a dismissed dialog, and a restart, because it makes earlier refs and pages invalid. */
function withContext(
  { code, message, hint, details, cause }: ToolError,
  { dialogs, downloads }: CallNotes,
  restarted: boolean,
): ToolError {
  const more = {
    ...details,
    ...(dialogs.length === 0 ? {} : { dialogs }),
    ...(downloads.length === 0 ? {} : { downloads }),
    ...(restarted ? { restarted: true } : {}),
  };
  const restart = restarted ? ' (The browser was restarted before this call.)' : '';
  return new ToolError(code, `${message}${restart}`, {
    ...(hint === undefined ? {} : { hint }),
    ...(Object.keys(more).length === 0 ? {} : { details: more }),
    cause,
  });
}
