import { tryParseJson } from '@model-gateway/kernel';
import { z } from 'zod';
import type { EngineCall } from './engine-call.ts';
import type { EngineHost } from './engine-host.ts';
import { EngineError, notSupported } from './errors.ts';
import { NOT_SUPPORTED, type HostResponse, type HostRequest } from './host-messages.ts';

/** The default timeout of a call. */
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

/** The failure of a library call. */
export type NativeFailure = z.output<typeof failureShape>;

/** The calls of a library. Failures are thrown as errors. */
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
  /** Undefined if the library does not support this method. */
  tryCall(
    method: string,
    params: object,
    call: EngineCall,
    timeoutMs?: number,
  ): Promise<{ readonly value: unknown } | undefined>;
}

/** Calls the library of a host. */
export function createNativeCalls(host: EngineHost, backend: string): NativeCalls {
  // Methods that the library does not support.
  const missing = new Set<string>();

  async function send(request: HostRequest, call: EngineCall, timeoutMs: number) {
    const response: HostResponse = await host.request(request, timeoutMs, call.signal);
    if ('problem' in response) throw new EngineError('INTERNAL', `${response.message}.`);
    return response;
  }

  return {
    async navigate(url, call, timeoutMs) {
      const { status, json } = await send({ kind: 'navigate', url }, call, timeoutMs);
      if (status === 0) return tryParseJson(json);
      const { code, message = 'no reason given' } = failureOf(json);
      throw new EngineError('NAVIGATION_FAILED', `${url} could not be opened: ${message}.`, {
        hint: 'Check the address and the network.',
        details: { url, net_error: code ?? message },
        engineCode: code,
      });
    },
    async evaluate(source, call, timeoutMs) {
      const { status, json } = await send({ kind: 'evaluate', source }, call, timeoutMs);
      if (status !== 0) return { ok: false, failure: failureOf(json) };
      const { result, type } = evaluatedShape.safeParse(tryParseJson(json)).data ?? {};
      return { ok: true, value: result, ...(type === undefined ? {} : { type }) };
    },
    async screenshot(params, call) {
      const request: HostRequest = { kind: 'screenshot', params: JSON.stringify(params) };
      const { status, bytes } = await send(request, call, CALL_TIMEOUT_MS);
      if (status === NOT_SUPPORTED) throw notSupported(backend, 'screenshot');
      if (status !== 0 || bytes === undefined || bytes.length === 0) {
        throw new EngineError(
          'INTERNAL',
          `the ${backend} engine returned no screenshot (status ${status}).`,
        );
      }
      return bytes;
    },
    async tryCall(method, params, call, timeoutMs = CALL_TIMEOUT_MS) {
      if (missing.has(method)) return undefined;
      const request: HostRequest = { kind: 'call', method, params: JSON.stringify(params) };
      const { status, json } = await send(request, call, timeoutMs);
      if (status === NOT_SUPPORTED) {
        missing.add(method);
        return undefined;
      }
      if (status === 0) return { value: tryParseJson(json) };
      const { code, message = 'no reason given' } = failureOf(json);
      throw new EngineError('INTERNAL', `the ${backend} engine could not ${method}: ${message}.`, {
        details: { method, ...(code === undefined ? {} : { engine_code: code }) },
        engineCode: code,
      });
    },
  };
}

function failureOf(json: string | null): NativeFailure {
  const parsed = failureShape.safeParse(tryParseJson(json));
  return parsed.success
    ? parsed.data
    : { message: (json ?? '').slice(0, 500) || 'no reason given' };
}
