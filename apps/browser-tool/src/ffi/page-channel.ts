import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { EngineCall } from '../engine.ts';
import type { ScriptResponse, ScriptMethods } from '../page-scripts/script-methods.ts';
import { scriptCall, scriptSource } from '../page-scripts/source.ts';
import type { RefRegistry } from '../session/ref-registry.ts';
import { ToolError } from '../tool-error.ts';
import {
  CALL_TIMEOUT_MS,
  notSupported,
  type NativeCalls,
  type NativeFailure,
} from './native-calls.ts';
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

/** What a script brought back, and the document that it ran in. */
export type PageResponse = z.output<typeof envelopeShape>;

/** An engine that could not run a script at all, most likely because the document made way for another one, says why. */
export type PageResult =
  | { readonly ok: true; readonly answer: PageResponse }
  | { readonly ok: false; readonly failure: NativeFailure };

/** Runs scripts in the page by evaluating them: the way that every engine has. */
export interface PageChannel {
  /** Runs a function `(state) => …` once. An error that it throws is in the answer. */
  run(body: string, call: EngineCall, timeoutMs?: number): Promise<PageResult>;
  /** The document as it is now. */
  look(call: EngineCall): Promise<PageResponse>;
  /** The same, or undefined where the engine evaluates expressions but not the scripts of the tool. */
  tryReadDocument(call: EngineCall): Promise<PageResponse | undefined>;
  /** Whether the scripts of the tool run here; tried once, and again with every look. */
  runsScripts(call: EngineCall): Promise<boolean>;
  /** Asks the scripts of the tool, in the next document where one made way. */
  callScript<Method extends keyof ScriptMethods>(
    method: Method,
    parameters: Parameters<ScriptMethods[Method]>[0],
    call: EngineCall,
    timeoutMs?: number,
  ): Promise<ScriptResponse<Method>['value']>;
}

interface ChannelOptions {
  readonly backend: string;
  readonly native: NativeCalls;
  readonly refs: RefRegistry;
  /** Whether the engine leaves dialogs to us. */
  readonly handlesDialogs: boolean;
  readonly onDialogs: (dialogs: PageResponse['dialogs'], call: EngineCall) => void;
}

/** A channel to whichever document is there when it is used. */
export function createPageChannel(options: ChannelOptions): PageChannel {
  const { backend, native, refs, handlesDialogs, onDialogs } = options;
  let knowledge: 'nothing yet' | 'scripts run' | 'scripts do not run' = 'nothing yet';
  const install = `${STATE} ??= (${String(createPageState)})(${scriptSource}, ${handlesDialogs});`;

  async function run(
    body: string,
    call: EngineCall,
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<PageResult> {
    // The scripts are large; a document that has them is not sent them again.
    const light = await native.evaluate(expression(body, '', call), call, timeoutMs);
    const result =
      light.ok && light.value === 'none'
        ? await native.evaluate(expression(body, install, call), call, timeoutMs)
        : light;
    if (!result.ok) return result;
    const envelope = envelopeShape.safeParse(parseJson(result.value));
    if (!envelope.success) {
      if (knowledge === 'nothing yet') knowledge = 'scripts do not run';
      return { ok: false, failure: { message: 'its answer is not what the tool understands' } };
    }
    knowledge = 'scripts run';
    onDialogs(envelope.data.dialogs, call);
    return { ok: true, answer: envelope.data };
  }

  async function runWithRetries(
    body: string,
    call: EngineCall,
    timeoutMs?: number,
  ): Promise<PageResponse> {
    for (let tries = 1; ; tries += 1) {
      const result = await run(body, call, timeoutMs);
      const problem = result.ok ? result.answer.error : result.failure;
      if (result.ok && problem === undefined) return result.answer;
      if (!result.ok && tries >= TRIES_MAX && knowledge === 'nothing yet')
        knowledge = 'scripts do not run';
      if (knowledge === 'scripts do not run') throw cannotRunScripts(backend);
      if (result.ok || tries >= TRIES_MAX) {
        const reason = problem?.message ?? 'it gave no reason';
        throw new ToolError('INTERNAL', `A script of the tool failed in the page: ${reason}.`);
      }
      await delay(RETRY_MS);
      call.signal.throwIfAborted();
    }
  }

  async function callScript<Method extends keyof ScriptMethods>(
    method: Method,
    parameters: Parameters<ScriptMethods[Method]>[0],
    call: EngineCall,
    timeoutMs?: number,
  ): Promise<ScriptResponse<Method>['value']> {
    const text = scriptCall('state.scripts', method, parameters ?? {}, refs.next);
    const answer = await runWithRetries(`async (state) => ${text}`, call, timeoutMs);
    const { value, next } = answer.value as ScriptResponse<Method>;
    refs.advance(next, { id: answer.id, url: answer.url });
    return value;
  }

  const look = (call: EngineCall): Promise<PageResponse> => runWithRetries('() => undefined', call);
  const tryReadDocument = (call: EngineCall): Promise<PageResponse | undefined> =>
    look(call).catch((error: unknown) => {
      if (knowledge === 'scripts do not run') return undefined;
      throw error;
    });
  return {
    run,
    callScript,
    look,
    tryReadDocument,
    async runsScripts(call) {
      if (knowledge === 'nothing yet') await tryReadDocument(call);
      return knowledge === 'scripts run';
    },
  };
}

function cannotRunScripts(backend: string): ToolError {
  return notSupported(
    backend,
    'this: its evaluate does not run the scripts of the tool, and so it opens pages, evaluates expressions and takes pictures alone',
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

function parseJson(value: unknown): unknown {
  try {
    return typeof value === 'string' ? JSON.parse(value) : undefined;
  } catch {
    return undefined;
  }
}
