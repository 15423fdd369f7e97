import { EngineError, type ForeignEngine } from '@model-gateway/browser-ffi';
import type { EngineCall } from '../engine.ts';
import { HTTP_STATUS, ToolError, type ToolErrorCode } from '../errors.ts';
import type { PageQuery } from '../injected/find-elements.ts';
import type { ScriptMethods, ScriptResults } from '../injected/main.ts';
import { notReadyError } from '../session/element-errors.ts';
import type { RefRegistry } from '../session/ref-registry.ts';
import { parseTarget } from '../session/target.ts';

/** The page of an engine with the C interface, and the refs of its elements. */
export interface ForeignPage {
  readonly engine: ForeignEngine;
  readonly refs: RefRegistry;
}

/** Calls a script of the tool in the page. */
export async function callScript<Method extends keyof ScriptMethods>(
  { engine }: ForeignPage,
  method: Method,
  parameters: Parameters<ScriptMethods[Method]>[0] & object,
  call: EngineCall,
  timeoutMs?: number,
): Promise<ScriptResults[Method]> {
  return (await engine.callScript(method, parameters, call, timeoutMs)) as ScriptResults[Method];
}

/** Parses a target; a ref must have been issued for the current document. */
export async function queryOf(
  { engine, refs }: ForeignPage,
  target: string,
  call: EngineCall,
): Promise<PageQuery> {
  const query = parseTarget(target);
  if (query.kind !== 'ref') return query;
  const issued = refs.find(Number(query.ref.slice(1)));
  if (issued === undefined) {
    throw new ToolError('ELEMENT_NOT_FOUND', `${query.ref} was never issued.`, {
      hint: 'Call browser_snapshot for refs of this page.',
      details: { target },
    });
  }
  const now = await engine.readDocument(call);
  if (issued.id === now.id) return query;
  throw new ToolError(
    'STALE_REF',
    `${query.ref} belonged to ${issued.url} which is no longer loaded (now ${now.url}).`,
    { hint: 'Call browser_snapshot for fresh refs.', details: { target } },
  );
}

/** The ref of the one element that matches a target. */
export async function refOf(page: ForeignPage, target: string, call: EngineCall): Promise<string> {
  const query = await queryOf(page, target, call);
  const found = await callScript(page, 'locate', { query, scroll: false }, call);
  if (!found.ok) throw notReadyError(target, found, 0);
  return found.element.ref;
}

/** The error of an engine as one of the tool; an engine may name a code of the tool. */
export function toToolError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  const { code, engineCode, message, hint, details } = error;
  return new ToolError(isToolErrorCode(engineCode) ? engineCode : code, message, {
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
    cause: error,
  });
}

function isToolErrorCode(code: string | undefined): code is ToolErrorCode {
  return code !== undefined && Object.hasOwn(HTTP_STATUS, code);
}
