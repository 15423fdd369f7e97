import { tryParseJson, type Log } from '@model-gateway/kernel';
import { z } from 'zod';
import type { EngineCall } from './engine-call.ts';
import { parseEvent, type EngineEvent } from './engine-events.ts';
import { startEngineHost, type EngineHost } from './engine-host.ts';
import { EngineError, notSupported } from './errors.ts';
import { evaluate, type Evaluated, type EvaluateRequest } from './evaluate.ts';
import type { EngineOptions, OpenProblem } from './host-messages.ts';
import { createNativeCalls } from './native-calls.ts';
import { createNavigation, type Navigation } from './navigation.ts';
import {
  clickElement,
  insertText,
  pressKey,
  type ClickParameters,
  type KeyParameters,
} from './page-actions.ts';
import {
  createPageChannel,
  scriptFailed,
  type PageChannel,
  type RefCounter,
} from './page-channel.ts';

const START_MS = 30_000;

/** What the tool gives an engine, and is told by it. */
export interface OpenRequest {
  /** The file of the vendor's library, and the engine that it should be. */
  readonly library: string;
  readonly backend: string;
  readonly startUrl: string;
  readonly proxy: string | undefined;
  readonly viewport: readonly [width: number, height: number];
  /** A folder for the engine's files. */
  readonly profile: string;
  /** The variables that the library may read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** An expression whose value has the tool's scripts: `callScript(method, parameters, nextRef)` and `elementOf(ref)`. */
  readonly scripts: string;
  /** An expression whose value has `jsonForm(value, depthMax)`. */
  readonly jsonForm: string;
  readonly refs: RefCounter;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onEvent: (event: EngineEvent) => void;
  /** Called once when the engine ends unexpectedly. */
  readonly onEnd: (reason: string) => void;
  /** The program of the host process, if it is not beside this module. */
  readonly hostProgram?: string;
}

/** An engine of a vendor, in its own process. Every method fails with an `EngineError`. */
export interface ForeignEngine
  extends Navigation, Pick<PageChannel, 'callScript' | 'readDocument'> {
  readonly backend: string;
  readonly pid: number | null;
  evaluate(request: EvaluateRequest, call: EngineCall): Promise<Evaluated>;
  /** Width and height of the page or of what is shown of it. */
  readSize(fullPage: boolean, call: EngineCall): Promise<readonly [number, number]>;
  /** A PNG; the engine may ignore the scale. */
  screenshot(params: object, call: EngineCall): Promise<Uint8Array>;
  /** With the engine's mouse, if it has one, else by the events of one. */
  click(ref: string, parameters: ClickParameters, call: EngineCall): Promise<void>;
  /** Enters text with the engine's keyboard, and returns whether it has one. */
  tryType(text: string, slowly: boolean, call: EngineCall): Promise<boolean>;
  insertText(text: string, call: EngineCall): Promise<void>;
  /** Presses a key, such as `Control+A`, which the parameters describe for a script. */
  press(key: string, parameters: KeyParameters, call: EngineCall): Promise<void>;
  resize(params: object, call: EngineCall): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Starts an engine: the vendor's library in its own process, the tool's scripts in its pages. */
export async function openEngine(request: OpenRequest): Promise<ForeignEngine> {
  const { backend, log, environment, hostProgram, onEvent, onEnd } = request;
  const host = startEngineHost({
    log,
    environment,
    onEvent: (json) => {
      const event = parseEvent(json);
      if (event !== undefined) onEvent(event);
    },
    onEnd,
    ...(hostProgram === undefined ? {} : { program: hostProgram }),
  });
  const capabilities = await openLibrary(host, request).catch(async (error: unknown) => {
    await host.close();
    throw error;
  });
  const native = createNativeCalls(host, backend);
  const channel = createPageChannel({
    backend,
    native,
    scripts: request.scripts,
    refs: request.refs,
    handlesDialogs: !capabilities.includes('dialog'),
    onDialogs: (dialogs) => {
      for (const { type: kind, ...dialog } of dialogs) onEvent({ type: 'dialog', kind, ...dialog });
    },
  });
  const navigation = createNavigation({
    backend,
    native,
    channel,
    startUrl: request.startUrl,
    onNavigated: (url) => {
      if (!capabilities.includes('events')) onEvent({ type: 'navigated', url });
    },
  });

  const { jsonForm } = request;
  return {
    backend,
    pid: host.pid,
    ...navigation,
    callScript: (...given) => channel.callScript(...given),
    readDocument: (call) => channel.readDocument(call),
    evaluate: (given, call) => evaluate({ backend, native, channel, jsonForm }, given, call),
    async readSize(fullPage, call) {
      const size = fullPage
        ? '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]'
        : '[innerWidth, innerHeight]';
      const result = await channel.run(`() => ${size}`, call);
      return result.ok ? (result.response.value as readonly [number, number]) : [0, 0];
    },
    screenshot: (params, call) => native.screenshot(params, call),
    async click(ref, parameters, call) {
      if ((await native.tryCall('click', parameters, call)) !== undefined) return;
      const body = `(state) => {
        const element = state.scripts.elementOf(${JSON.stringify(ref)});
        if (element !== undefined) (${String(clickElement)})(element, ${JSON.stringify(parameters)});
      }`;
      const result = await channel.run(body, call);
      // A click may unload the document, which is no failure.
      if (result.ok && result.response.error !== undefined)
        throw scriptFailed(result.response.error.message);
    },
    tryType: async (text, slowly, call) =>
      (await native.tryCall('type', { text, slowly }, call)) !== undefined,
    async insertText(text, call) {
      await channel.run(`(state) => (${String(insertText)})(state, ${JSON.stringify(text)})`, call);
    },
    async press(key, parameters, call) {
      if ((await native.tryCall('press', { key }, call)) !== undefined) return;
      const given = JSON.stringify(parameters);
      await channel.run(`(state) => (${String(pressKey)})(state, ${given})`, call);
    },
    async resize(params, call) {
      if ((await native.tryCall('resize', params, call)) === undefined) {
        throw notSupported(backend, 'resizing');
      }
    },
    close: () => host.close(),
  };
}

const PROBLEMS = {
  'not-loaded': [
    'ENGINE_LIB_NOT_FOUND',
    'Run the `bundle` subcommand on it to see which of its own libraries are missing.',
  ],
  'wrong-abi': [
    'ENGINE_ABI_MISMATCH',
    "Use a build of the engine that was compiled with this tool's include/browser_engine.h.",
  ],
  'not-created': ['BROWSER_LAUNCH_FAILED', 'Check what the engine needs on this machine.'],
} as const satisfies Record<OpenProblem, readonly [code: string, hint: string]>;

/** Loads the library and starts its engine. Returns its capabilities. */
async function openLibrary(
  host: EngineHost,
  { library, backend, startUrl, proxy, viewport: [width, height], profile, signal }: OpenRequest,
): Promise<readonly string[]> {
  const options: EngineOptions = {
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
    const [code, hint] = PROBLEMS[response.problem];
    const reason = reasonOf(response.message);
    throw new EngineError(code, `the engine library ${library} cannot be used: ${reason}.`, {
      hint,
      details: { library, backend },
    });
  }
  const parsed = z.array(z.string()).safeParse(tryParseJson(response.json ?? '[]'));
  return parsed.success ? parsed.data : [];
}

/** An engine may give the reason as `{code, message}`. */
function reasonOf(text: string): string {
  const parsed = z.object({ message: z.string() }).safeParse(tryParseJson(text));
  return parsed.success ? parsed.data.message : text;
}
