import { notSupported, openEngine, type EngineEvent } from '@model-gateway/browser-ffi';
import { createProfile, newProfilePath, removeProfile } from '../chromium/process/profile.ts';
import type {
  BrowserEngine,
  DialogReport,
  EngineCall,
  EngineContext,
  Viewport,
} from '../engine.ts';
import { injectedSource, jsonFormSource } from '../injected-source.ts';
import { childEnvironment } from '../process/child-environment.ts';
import { ownEnvironment } from '../process/config.ts';
import type { ResolvedBrowser } from '../resolve/index.ts';
import { click, press, scroll, type } from './actions.ts';
import { toToolError, type ForeignPage } from './foreign-page.ts';
import { dom, evaluate, screenshot, snapshot, waitFor } from './reading.ts';
import { createEventRecorder } from './record-event.ts';

type FfiBrowser = Extract<ResolvedBrowser, { readonly kind: 'ffi' }>;

/** Starts an engine with the C interface: the vendor's library runs in its own process, and the tool's scripts in its pages. */
export async function launchForeignEngine(
  { library, backend }: FfiBrowser,
  context: EngineContext,
  /** A test may set another program of the host process. */
  hostProgram?: string,
): Promise<BrowserEngine> {
  if (context.allowedOrigins.length > 0) {
    // The engine could not enforce the rule.
    throw toToolError(notSupported(backend, 'BROWSER_ALLOWED_ORIGINS'));
  }
  const { captures, refs, startUrl, proxy, log, signal } = context;
  let { viewport } = context;
  let current: EngineCall | undefined;
  // Dialogs between calls, which the next call reports.
  const pendingDialogs: DialogReport[] = [];
  const recorder = createEventRecorder(captures);
  const profile = newProfilePath();
  await createProfile(profile);

  function onEvent(event: EngineEvent): void {
    switch (event.type) {
      case 'console': {
        const { type: _type, stack, ...message } = event;
        captures.console.add({ ...message, ...(stack === undefined ? {} : { stack }) });
        return;
      }
      case 'network':
        recorder.request(event);
        return;
      case 'websocket':
        recorder.socket(event);
        return;
      case 'dialog': {
        const { kind, message, action } = event;
        const dialog = { type: kind, message, action };
        (current?.notes.dialogs ?? pendingDialogs).push(dialog);
        captures.events.publish('dialog', dialog);
        return;
      }
      case 'navigated':
        captures.navigated(event.url);
        return;
      case 'crashed':
        onEnd(event.reason);
    }
  }
  function onEnd(reason: string): void {
    captures.events.publish('crash', { reason });
    context.onEnd(reason);
    void close();
  }

  const opening = openEngine({
    library,
    backend,
    startUrl,
    proxy,
    viewport,
    profile,
    environment: childEnvironment(ownEnvironment()),
    scripts: injectedSource,
    jsonForm: jsonFormSource,
    refs,
    log,
    signal,
    onEvent,
    onEnd,
    ...(hostProgram === undefined ? {} : { hostProgram }),
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await opening.then(
        (engine) => engine.close(),
        () => undefined,
      );
      await removeProfile(profile);
    })());
  const engine = await opening.catch(async (error: unknown) => {
    await close();
    throw toToolError(error);
  });
  const page: ForeignPage = { engine, refs };

  /** Runs a call; dialogs that the engine reports meanwhile belong to it. */
  const during =
    <Request, Outcome>(
      run: (page: ForeignPage, request: Request, call: EngineCall) => Promise<Outcome>,
    ) =>
    async (request: Request, call: EngineCall): Promise<Outcome> => {
      current = call;
      call.notes.dialogs.push(...pendingDialogs.splice(0));
      try {
        return await run(page, request, call);
      } catch (error) {
        throw toToolError(error);
      } finally {
        if (current === call) current = undefined;
      }
    };
  return {
    protocol: 'ffi',
    status: () => ({
      version: backend,
      pid: engine.pid,
      sandbox: false,
      viewport,
      isTabCrashed: false,
    }),
    address: (call) =>
      engine.address(call).catch((error: unknown) => {
        throw toToolError(error);
      }),
    navigate: during((_, request, call) => engine.navigate(request, call)),
    traverse: (direction, given, call) =>
      during((_, request: typeof given) => engine.traverse(direction, request, call))(given, call),
    click: during(click),
    type: during(type),
    press: during(press),
    scroll: during(scroll),
    evaluate: during(evaluate),
    screenshot: during(screenshot),
    waitFor: during(waitFor),
    dom: during(dom),
    snapshot: during(snapshot),
    resize: during(async (_, { width, height, deviceScaleFactor, mobile }, call) => {
      const params = { width, height, device_scale_factor: deviceScaleFactor ?? null, mobile };
      await engine.resize(params, call);
      viewport = [width, height] satisfies Viewport;
      return viewport;
    }),
    requestBody: () => Promise.resolve(undefined),
    responseBody: () => Promise.resolve(undefined),
    // A page that hangs blocks the library, whose process is then killed.
    ensureResponsive: () => Promise.resolve(false),
    close,
  };
}
