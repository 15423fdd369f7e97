import { tryParseJson } from '@model-gateway/kernel';
import { z } from 'zod';
import { startCrashCleanup } from '../chromium/process/crash-cleanup.ts';
import { createProfile, newProfilePath, removeProfile } from '../chromium/process/profile.ts';
import type {
  BrowserEngine,
  EngineCall,
  DialogReport,
  EngineContext,
  Viewport,
} from '../engine.ts';
import type { ResolvedBrowser } from '../resolve/index.ts';
import { ToolError } from '../errors.ts';
import { createEventHandler } from './engine-events.ts';
import { startEngineHost, type EngineHost } from './engine-host.ts';
import { clickFfi, pressFfi, scrollFfi, typeFfi } from './ffi-actions.ts';
import { addressFfi, navigateFfi, traverseFfi } from './ffi-navigation.ts';
import { evaluateFfi } from './ffi-evaluate.ts';
import { domFfi, screenshotFfi, snapshotFfi, waitForFfi } from './ffi-reading.ts';
import type { FfiContext } from './ffi-context.ts';
import type { OpenProblem } from './host-messages.ts';
import { createNativeCalls, notSupported } from './native-calls.ts';
import { createPageChannel } from './page-channel.ts';

const START_MS = 30_000;

type FfiBrowser = Extract<ResolvedBrowser, { readonly kind: 'ffi' }>;

interface FfiOptions {
  /** The program of the host process; a test may set another one. */
  readonly hostProgram?: string;
}

/** Starts an engine with the C interface: the vendor's library runs in its own process, and the tool's scripts in its pages. */
export async function createFfiEngine(
  browser: FfiBrowser,
  context: EngineContext,
  { hostProgram }: FfiOptions = {},
): Promise<BrowserEngine> {
  if (context.allowedOrigins.length > 0) {
    // The engine could not enforce the rule.
    throw notSupported(browser.backend, 'BROWSER_ALLOWED_ORIGINS');
  }
  const profile = newProfilePath();
  const crashCleanup = startCrashCleanup(profile);
  await createProfile(profile);
  let current: EngineCall | undefined;
  let viewport = context.viewport;
  // Dialogs between calls, which the next call reports.
  const pendingDialogs: DialogReport[] = [];
  const addDialog = (dialog: DialogReport): void => {
    (current?.notes.dialogs ?? pendingDialogs).push(dialog);
    context.captures.events.publish('dialog', dialog);
  };
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> =>
    (ended ??= (async () => {
      await host.close();
      await removeProfile(profile);
      crashCleanup.done();
    })());
  const onHostEnd = (reason: string): void => {
    context.captures.events.publish('crash', { reason });
    context.onEnd(reason);
    void end();
  };
  const host = startEngineHost({
    log: context.log,
    onEvent: createEventHandler({
      captures: context.captures,
      onDialog: addDialog,
      onCrash: onHostEnd,
    }),
    onEnd: onHostEnd,
    ...(hostProgram === undefined ? {} : { program: hostProgram }),
  });
  if (host.pid !== null) crashCleanup.setGroup(host.pid);
  const capabilities = await open(host, browser, context, profile).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  const native = createNativeCalls(host, browser.backend);
  const ffi: FfiContext = {
    backend: browser.backend,
    native,
    captures: context.captures,
    refs: context.refs,
    lastAddress: { url: context.startUrl, title: '' },
    reportsNavigations: capabilities.includes('events'),
    channel: createPageChannel({
      backend: browser.backend,
      native,
      refs: context.refs,
      handlesDialogs: !capabilities.includes('dialog'),
      onDialogs: (dialogs) => {
        for (const dialog of dialogs) addDialog(dialog);
      },
    }),
  };
  /** Runs a call; dialogs that the engine reports meanwhile belong to it. */
  const during =
    <Request, Outcome>(
      run: (ffi: FfiContext, request: Request, call: EngineCall) => Promise<Outcome>,
    ) =>
    async (request: Request, call: EngineCall): Promise<Outcome> => {
      current = call;
      call.notes.dialogs.push(...pendingDialogs.splice(0));
      return run(ffi, request, call).finally(() => {
        if (current === call) current = undefined;
      });
    };
  return {
    protocol: 'ffi',
    status: () => ({
      version: browser.backend,
      pid: host.pid,
      sandbox: false,
      viewport,
      isTabCrashed: false,
    }),
    address: (call) => addressFfi(ffi, call),
    navigate: during(navigateFfi),
    traverse: (direction, request, call) =>
      during((_: FfiContext, given: typeof request) => traverseFfi(ffi, direction, given, call))(
        request,
        call,
      ),
    click: during(clickFfi),
    type: during(typeFfi),
    press: during(pressFfi),
    scroll: during(scrollFfi),
    evaluate: during(evaluateFfi),
    screenshot: during(screenshotFfi),
    waitFor: during(waitForFfi),
    dom: during(domFfi),
    snapshot: during(snapshotFfi),
    async resize({ width, height, deviceScaleFactor, mobile }, call) {
      const params = { width, height, device_scale_factor: deviceScaleFactor ?? null, mobile };
      if ((await native.tryCall('resize', params, call)) === undefined) {
        throw notSupported(browser.backend, 'resizing');
      }
      viewport = [width, height] satisfies Viewport;
      return viewport;
    },
    requestBody: () => Promise.resolve(undefined),
    responseBody: () => Promise.resolve(undefined),
    // A page that hangs blocks the library, whose process is then killed.
    ensureResponsive: () => Promise.resolve(false),
    close: end,
  };
}

const PROBLEMS = {
  'not-loaded': 'ENGINE_LIB_NOT_FOUND',
  'wrong-abi': 'ENGINE_ABI_MISMATCH',
  'not-created': 'BROWSER_LAUNCH_FAILED',
} as const satisfies Record<OpenProblem, string>;

const HINTS: Readonly<Record<OpenProblem, string>> = {
  'not-loaded': 'Run the `bundle` subcommand on it to see which of its own libraries are missing.',
  'wrong-abi':
    "Use a build of the engine that was compiled with this tool's include/browser_engine.h.",
  'not-created': 'Check what the engine needs on this machine.',
};

async function open(
  host: EngineHost,
  { library, backend }: FfiBrowser,
  { startUrl, proxy, viewport: [width, height], signal }: EngineContext,
  profile: string,
): Promise<readonly string[]> {
  const options = {
    url: startUrl,
    proxy: proxy ?? null,
    viewport: { width, height },
    user_data_dir: profile,
  };
  const response = await host.request(
    { kind: 'open', library, backend, options },
    START_MS,
    signal,
  );
  if ('problem' in response) {
    const { problem } = response;
    throw new ToolError(
      PROBLEMS[problem],
      `the engine library ${library} cannot be used: ${reasonOf(response.message)}.`,
      { hint: HINTS[problem], details: { library, backend } },
    );
  }
  const parsed = z.array(z.string()).safeParse(tryParseJson(response.json ?? '[]'));
  return parsed.success ? parsed.data : [];
}

/** An engine may give the reason as `{code, message}`. */
function reasonOf(text: string): string {
  const parsed = z.object({ message: z.string() }).safeParse(tryParseJson(text));
  return parsed.success ? parsed.data.message : text;
}
