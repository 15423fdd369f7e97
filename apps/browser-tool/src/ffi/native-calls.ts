import { z } from 'zod';
import type { EngineCall } from '../engine.ts';
import { HTTP_STATUS, ToolError, type ToolErrorCode } from '../tool-error.ts';
import type { EngineHost } from './engine-host.ts';
import { NOT_SUPPORTED, type HostResponse, type HostRequest } from './host-messages.ts';

/** How long a call may take that has no time of its own. */
export const CALL_TIMEOUT_MS = 30_000;

const failureShape = z.object({
  code: z.string().optional(),
  message: z.string().optional(),
  name: z.string().optional(),
  stack: z.string().optional(),
});

const evaluatedShape = z.object({
  result: z.unknown().optional(),
  type: z.string().optional().catch(undefined),
});

/** What a library says about a call of it that failed. */
export type NativeFailure = z.output<typeof failureShape>;

/** The calls of a library, with its failures as errors. */
export interface NativeCalls {
  navigate(url: string, call: EngineCall, timeoutMs: number): Promise<unknown>;
  /** The value of an expression, or how it failed. */
  evaluate(
    source: string,
    call: EngineCall,
    timeoutMs: number,
  ): Promise<
    | { readonly ok: true; readonly value: unknown; readonly type?: string }
    | { readonly ok: false; readonly failure: NativeFailure }
  >;
  screenshot(params: object, call: EngineCall): Promise<Uint8Array>;
  /** Undefined where the library does not offer this method. */
  tryCall(
    method: string,
    params: object,
    call: EngineCall,
    timeoutMs?: number,
  ): Promise<{ readonly value: unknown } | undefined>;
}

/** Speaks to the library behind a host. */
export function createNativeCalls(host: EngineHost, backend: string): NativeCalls {
  // What was once said to be missing stays so.
  const missing = new Set<string>();

  async function ask(request: HostRequest, call: EngineCall, timeoutMs: number) {
    const answer: HostResponse = await host.ask(request, timeoutMs, call.signal);
    if ('problem' in answer) throw new ToolError('INTERNAL', `${answer.message}.`);
    return answer;
  }

  return {
    async navigate(url, call, timeoutMs) {
      const { status, json } = await ask({ kind: 'navigate', url }, call, timeoutMs);
      if (status === 0) return parseJson(json);
      const { code, message = 'it gave no reason' } = failureOf(json);
      throw new ToolError(
        known(code) ?? 'NAVIGATION_FAILED',
        `${url} could not be opened: ${message}.`,
        {
          hint: 'Check the address and the network.',
          details: { url, net_error: code ?? message },
        },
      );
    },
    async evaluate(source, call, timeoutMs) {
      const { status, json } = await ask({ kind: 'evaluate', source }, call, timeoutMs);
      if (status !== 0) return { ok: false, failure: failureOf(json) };
      const answer = parseJson(json);
      const { result, type } = evaluatedShape.safeParse(answer).data ?? {};
      return { ok: true, value: result, ...(type === undefined ? {} : { type }) };
    },
    async screenshot(params, call) {
      const request: HostRequest = { kind: 'screenshot', params: JSON.stringify(params) };
      const { status, bytes } = await ask(request, call, CALL_TIMEOUT_MS);
      if (status === NOT_SUPPORTED) throw notSupported(backend, 'screenshot');
      if (status !== 0 || bytes === undefined || bytes.length === 0) {
        throw new ToolError(
          'INTERNAL',
          `the ${backend} engine took no picture (status ${status}).`,
        );
      }
      return bytes;
    },
    async tryCall(method, params, call, timeoutMs = CALL_TIMEOUT_MS) {
      if (missing.has(method)) return undefined;
      const request: HostRequest = { kind: 'call', method, params: JSON.stringify(params) };
      const { status, json } = await ask(request, call, timeoutMs);
      if (status === NOT_SUPPORTED) {
        missing.add(method);
        return undefined;
      }
      if (status === 0) return { value: parseJson(json) };
      const { code, message = 'it gave no reason' } = failureOf(json);
      throw new ToolError(
        known(code) ?? 'INTERNAL',
        `the ${backend} engine could not ${method}: ${message}.`,
        {
          details: { method, ...(code === undefined ? {} : { engine_code: code }) },
        },
      );
    },
  };
}

/** For what an engine cannot do, and no script could in its place. */
export function notSupported(backend: string, what: string): ToolError {
  return new ToolError('NOT_SUPPORTED_BY_ENGINE', `the ${backend} engine does not offer ${what}.`, {
    hint: 'Set BROWSER_BACKEND=auto for a browser that does.',
    details: { backend },
  });
}

function failureOf(json: string | null): NativeFailure {
  const parsed = failureShape.safeParse(parseJson(json));
  return parsed.success
    ? parsed.data
    : { message: (json ?? '').slice(0, 500) || 'it gave no reason' };
}

/** An engine may use the codes of the tool itself. */
function known(code: string | undefined): ToolErrorCode | undefined {
  const isKnown = (text: string): text is ToolErrorCode => Object.hasOwn(HTTP_STATUS, text);
  return code !== undefined && isKnown(code) ? code : undefined;
}

function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
