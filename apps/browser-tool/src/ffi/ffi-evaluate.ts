import { Script } from 'node:vm';
import { looksLikeFunction } from '../cdp/function-text.ts';
import type { EngineCall, EvaluateOutcome, EvaluateRequest } from '../engine.ts';
import { jsonForm } from '../page-scripts/json-value.ts';
import { ToolError } from '../tool-error.ts';
import { refOf, type FfiContext } from './ffi-context.ts';
import { notSupported } from './native-calls.ts';

const DEPTH_MAX = 20;
const RESULT_BYTES_MAX = 1024 * 1024;
const SCRIPT_MARGIN_MS = 1_000;

interface ScriptResult {
  readonly json?: string;
  readonly truncated: boolean;
  readonly type: string;
}

/** Evaluates a caller's function or expression in the page. */
export async function evaluateFfi(
  ffi: FfiContext,
  request: EvaluateRequest,
  call: EngineCall,
): Promise<EvaluateOutcome> {
  const { source, args, target, awaitPromise, timeoutMs } = request;
  if (!(await ffi.channel.runsScripts(call))) return evaluatePlain(ffi, request, call);
  const element =
    target === undefined
      ? []
      : [`state.scripts.elementOf(${JSON.stringify(await refOf(ffi, target, call))})`];
  const given = [...element, ...args.map((value) => JSON.stringify(value) ?? 'undefined')];
  const body = `async (state) => {
    const made = ${valueOf(source, given)};
    const value = ${awaitPromise ? 'await made' : 'made'};
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    return { ...(${String(jsonForm)})(value, ${DEPTH_MAX}), type };
  }`;
  const result = await ffi.channel.run(body, call, timeoutMs + SCRIPT_MARGIN_MS);
  if (!result.ok) throw evaluationFailed(result.failure);
  if (result.answer.error !== undefined) throw evaluationFailed(result.answer.error);
  const { json, truncated, type } = result.answer.value as ScriptResult;
  checkSize(json?.length ?? 0);
  return { result: json === undefined ? null : (JSON.parse(json) as unknown), type, truncated };
}

/** For an engine that runs no scripts of ours: it gets what the caller wrote, and its answer is the result. */
async function evaluatePlain(
  { native, backend }: FfiContext,
  { source, args, target, timeoutMs }: EvaluateRequest,
  call: EngineCall,
): Promise<EvaluateOutcome> {
  if (target !== undefined) throw notSupported(backend, 'scripts that are given an element');
  const given = args.map((value) => JSON.stringify(value) ?? 'undefined');
  const isPlain = given.length === 0 && !looksLikeFunction(source);
  const expression = isPlain ? source : valueOf(source, given);
  const answer = await native.evaluate(expression, call, timeoutMs + SCRIPT_MARGIN_MS);
  if (!answer.ok) throw evaluationFailed(answer.failure);
  const { value, type = value === null ? 'null' : typeof value } = answer;
  checkSize((JSON.stringify(value) ?? '').length);
  return { result: value ?? null, type, truncated: false };
}

/** The script as an expression: a function is called, statements with a `return` are a function's body, others the page runs. */
function valueOf(source: string, given: readonly string[]): string {
  if (looksLikeFunction(source)) return `(${source}\n)(${given.join(', ')})`;
  const expression = `(${source}\n)`;
  if (given.length > 0) return `((element) => ${expression})(${given.join(', ')})`;
  if (parses(`async () => ${expression}`)) return expression;
  const body = `(async () => {${source}\n})()`;
  if (/\b(return|await)\b/.test(source) && parses(body)) return body;
  return `(0, eval)(${JSON.stringify(source)})`;
}

/** Only the grammar is looked at; nothing runs here. */
function parses(source: string): boolean {
  try {
    return new Script(source) instanceof Script;
  } catch {
    return false;
  }
}

function checkSize(length: number): void {
  if (length <= RESULT_BYTES_MAX) return;
  const size = (length / (1024 * 1024)).toFixed(1);
  throw new ToolError('RESULT_TOO_LARGE', `The result is ${size} MiB of JSON, more than 1 MiB.`, {
    hint: 'Return only what is needed, such as a part of it or a count.',
    details: { chars: length, chars_max: RESULT_BYTES_MAX },
  });
}

function evaluationFailed(problem: {
  readonly name?: string | undefined;
  readonly message?: string | undefined;
  readonly stack?: string | undefined;
}): ToolError {
  const { name = 'Error', message = 'it gave no reason', stack = '' } = problem;
  return new ToolError('EVALUATION_FAILED', `The script threw ${name}: ${message}.`, {
    hint: 'Correct the script and call again.',
    details: { name, message, stack, line: null, column: null },
  });
}
