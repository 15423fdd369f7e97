import { setTimeout as delay } from 'node:timers/promises';
import { tryParseJson } from '@model-gateway/kernel';
import { z } from 'zod';
import type { EngineCall } from './engine-call.ts';
import { EngineError, notSupported } from './errors.ts';
import { CALL_TIMEOUT_MS, type NativeCalls, type NativeFailure } from './native-calls.ts';
import { createPageState } from './page-actions.ts';

const STATE = "document[Symbol.for('browser-tool')]";
const TRIES_MAX = 3;
const RETRY_MS = 100;

const envelopeShape = z.object({
  id: z.string(),
  url: z.string(),
  title: z.string(),
  readyState: z.string(),
  isUnloading: z.boolean(),
  dialogs: z.array(
    z.object({
      type: z.enum(['alert', 'confirm', 'prompt', 'beforeunload']),
      message: z.string(),
      action: z.enum(['accepted', 'dismissed']),
    }),
  ),
  value: z.unknown().optional(),
  error: z.object({ name: z.string(), message: z.string(), stack: z.string() }).optional(),
});

/** The result of a script, and the state of its document. */
export type PageResponse = z.output<typeof envelopeShape>;

/** A failure means that the engine could not run the script, most likely because the document was unloaded. */
export type PageResult =
  | { readonly ok: true; readonly response: PageResponse }
  | { readonly ok: false; readonly failure: NativeFailure };

/** The counter of the refs that scripts give to elements. */
export interface RefCounter {
  readonly next: number;
  /** Notes that a document issued the refs up to this one. */
  advance(next: number, document: { readonly id: string; readonly url: string }): void;
}

/** Runs scripts in the page by `evaluate`, which every engine has. */
export interface PageChannel {
  /** Runs a function `(state) => …` once. The response includes an error that it throws. */
  run(body: string, call: EngineCall, timeoutMs?: number): Promise<PageResult>;
  /** The state of the current document. */
  readDocument(call: EngineCall): Promise<PageResponse>;
  /** The same, or undefined if the engine can evaluate expressions but not the tool's scripts. */
  tryReadDocument(call: EngineCall): Promise<PageResponse | undefined>;
  /** Whether the engine can run the tool's scripts. */
  runsScripts(call: EngineCall): Promise<boolean>;
  /** Calls a script of the tool; retries if the document is unloaded meanwhile. */
  callScript(
    method: string,
    parameters: object,
    call: EngineCall,
    timeoutMs?: number,
  ): Promise<unknown>;
}

interface ChannelOptions {
  readonly backend: string;
  readonly native: NativeCalls;
  /** An expression whose value has the tool's scripts: `callScript(method, parameters, nextRef)` and `elementOf(ref)`. */
  readonly scripts: string;
  readonly refs: RefCounter;
  /** Whether the tool must answer dialogs because the engine does not. */
  readonly handlesDialogs: boolean;
  readonly onDialogs: (dialogs: PageResponse['dialogs']) => void;
}

/** A channel to the current document. */
export function createPageChannel(options: ChannelOptions): PageChannel {
  const { backend, native, scripts, refs, handlesDialogs, onDialogs } = options;
  let scriptSupport: 'unknown' | 'supported' | 'unsupported' = 'unknown';
  const install = `${STATE} ??= (${String(createPageState)})(${scripts}, ${handlesDialogs});`;

  async function run(
    body: string,
    call: EngineCall,
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<PageResult> {
    // The scripts are large, so they are sent only once per document.
    const light = await native.evaluate(expression(body, '', call), call, timeoutMs);
    const result =
      light.ok && light.value === 'none'
        ? await native.evaluate(expression(body, install, call), call, timeoutMs)
        : light;
    if (!result.ok) return result;
    const envelope = envelopeShape.safeParse(tryParseJson(result.value));
    if (!envelope.success) {
      if (scriptSupport === 'unknown') scriptSupport = 'unsupported';
      return { ok: false, failure: { message: 'the engine returned an unexpected value' } };
    }
    scriptSupport = 'supported';
    onDialogs(envelope.data.dialogs);
    return { ok: true, response: envelope.data };
  }

  async function runWithRetries(
    body: string,
    call: EngineCall,
    timeoutMs?: number,
  ): Promise<PageResponse> {
    for (let tries = 1; ; tries += 1) {
      const result = await run(body, call, timeoutMs);
      const problem = result.ok ? result.response.error : result.failure;
      if (result.ok && problem === undefined) return result.response;
      if (!result.ok && tries >= TRIES_MAX && scriptSupport === 'unknown')
        scriptSupport = 'unsupported';
      if (scriptSupport === 'unsupported') throw cannotRunScripts(backend);
      if (result.ok || tries >= TRIES_MAX) throw scriptFailed(problem?.message);
      await delay(RETRY_MS);
      call.signal.throwIfAborted();
    }
  }

  const readDocument = (call: EngineCall): Promise<PageResponse> =>
    runWithRetries('() => undefined', call);
  const tryReadDocument = (call: EngineCall): Promise<PageResponse | undefined> =>
    readDocument(call).catch((error: unknown) => {
      if (scriptSupport === 'unsupported') return undefined;
      throw error;
    });
  return {
    run,
    readDocument,
    tryReadDocument,
    async runsScripts(call) {
      if (scriptSupport === 'unknown') await tryReadDocument(call);
      return scriptSupport === 'supported';
    },
    async callScript(method, parameters, call, timeoutMs) {
      const given = JSON.stringify([method, parameters, refs.next]);
      const body = `async (state) => state.scripts.callScript(...${given})`;
      const response = await runWithRetries(body, call, timeoutMs);
      const { value, next } = response.value as { readonly value: unknown; readonly next: number };
      refs.advance(next, { id: response.id, url: response.url });
      return value;
    },
  };
}

/** An error of a script of the tool, which is a defect of the tool or of the engine. */
export function scriptFailed(reason = 'no reason given'): EngineError {
  return new EngineError('INTERNAL', `A script of the tool failed in the page: ${reason}.`);
}

function cannotRunScripts(backend: string): EngineError {
  return notSupported(
    backend,
    'this: its evaluate function cannot run the scripts of the tool, so it can only open pages, evaluate expressions and take screenshots',
  );
}

function expression(body: string, install: string, { dialog, promptText }: EngineCall): string {
  const accept = dialog === undefined ? undefined : dialog === 'accept';
  return `(async () => {
    ${install}
    const state = ${STATE};
    if (state === undefined) return 'none';
    state.answer = ${JSON.stringify({ accept, promptText })};
    const answer = {};
    try { answer.value = await (${body})(state); }
    catch (error) {
      const { name = 'Error', message = String(error), stack = '' } = error ?? {};
      answer.error = { name: String(name), message: String(message), stack: String(stack) };
    }
    return JSON.stringify({
      id: state.id, url: location.href, title: document.title, readyState: document.readyState,
      isUnloading: state.isUnloading, dialogs: state.dialogs.splice(0), ...answer,
    });
  })()`;
}
