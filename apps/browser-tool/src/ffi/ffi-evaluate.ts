import { Script } from 'node:vm';
import { looksLikeFunction } from '../chromium/page/function-text.ts';
import type { EvaluateRequest } from '../commands/params.ts';
import type { EngineCall, EngineMethod, EvaluateOutcome } from '../engine.ts';
import { jsonFormSource } from '../injected-source.ts';
import { ToolError } from '../errors.ts';
import { refOf, type FfiContext } from './ffi-context.ts';
import { notSupported } from './native-calls.ts';
import { checkResultSize } from '../session/result-size.ts';

const DEPTH_MAX = 20;
const SCRIPT_MARGIN_MS = 1_000;

interface ScriptResult {
  readonly json?: string;
  readonly truncated: boolean;
  readonly type: string;
}

/** Evaluates a caller's function or expression in the page. */
export const evaluateFfi: EngineMethod<'evaluate', FfiContext> = async (ffi, request, call) => {
  const { function: source, args, target, awaitPromise, timeoutMs } = request;
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
    return { ...${jsonFormSource}.jsonForm(value, ${DEPTH_MAX}), type };
  }`;
  const result = await ffi.channel.run(body, call, timeoutMs + SCRIPT_MARGIN_MS);
  if (!result.ok) throw evaluationFailed(result.failure);
  if (result.response.error !== undefined) throw evaluationFailed(result.response.error);
  const { json, truncated, type } = result.response.value as ScriptResult;
  checkResultSize(json?.length ?? 0);
  return { result: json === undefined ? null : (JSON.parse(json) as unknown), type, truncated };
};

/** For an engine that cannot run the tool's scripts: it evaluates the caller's text, and its response is the result. */
async function evaluatePlain(
  { native, backend }: FfiContext,
  { function: source, args, target, timeoutMs }: EvaluateRequest,
  call: EngineCall,
): Promise<EvaluateOutcome> {
  if (target !== undefined) throw notSupported(backend, 'scripts with an element');
  const given = args.map((value) => JSON.stringify(value) ?? 'undefined');
  const isPlain = given.length === 0 && !looksLikeFunction(source);
  const expression = isPlain ? source : valueOf(source, given);
  const evaluated = await native.evaluate(expression, call, timeoutMs + SCRIPT_MARGIN_MS);
  if (!evaluated.ok) throw evaluationFailed(evaluated.failure);
  const { value, type = value === null ? 'null' : typeof value } = evaluated;
  checkResultSize((JSON.stringify(value) ?? '').length);
  return { result: value ?? null, type, truncated: false };
}

/** The script as an expression: a function is called, statements with `return` become a function body, others are evaluated. */
function valueOf(source: string, given: readonly string[]): string {
  if (looksLikeFunction(source)) return `(${source}\n)(${given.join(', ')})`;
  const expression = `(${source}\n)`;
  if (given.length > 0) return `((element) => ${expression})(${given.join(', ')})`;
  if (parses(`async () => ${expression}`)) return expression;
  const body = `(async () => {${source}\n})()`;
  if (/\b(return|await)\b/.test(source) && parses(body)) return body;
  return `(0, eval)(${JSON.stringify(source)})`;
}

/** Checks only the syntax; nothing runs. */
function parses(source: string): boolean {
  try {
    return new Script(source) instanceof Script;
  } catch {
    return false;
  }
}

function evaluationFailed(problem: {
  readonly name?: string | undefined;
  readonly message?: string | undefined;
  readonly stack?: string | undefined;
}): ToolError {
  const { name = 'Error', message = 'no reason given', stack = '' } = problem;
  return new ToolError('EVALUATION_FAILED', `The script threw ${name}: ${message}.`, {
    hint: 'Correct the script and call again.',
    details: { name, message, stack, line: null, column: null },
  });
}
