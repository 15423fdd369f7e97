import { Script } from 'node:vm';
import type { EngineCall } from './engine-call.ts';
import { EngineError, notSupported } from './errors.ts';
import type { NativeCalls } from './native-calls.ts';
import type { PageChannel } from './page-channel.ts';

const DEPTH_MAX = 20;
const SCRIPT_MARGIN_MS = 1_000;
const FUNCTION =
  /^(?:\s|\/\/[^\n]*\n|\/\*.*?\*\/)*(?:(?:async\s+)?function\b|(?:async\s*)?(?:[\w$]+|\((?:[^()]|\([^()]*\))*\))\s*=>)/s;

/** A function, which gets the element of the ref, if any, and the arguments; or an expression. */
export interface EvaluateRequest {
  readonly source: string;
  readonly args: readonly unknown[];
  readonly ref: string | undefined;
  readonly awaitPromise: boolean;
  readonly timeoutMs: number;
}

export interface Evaluated {
  /** Undefined for a value without a JSON form. */
  readonly json: string | undefined;
  readonly type: string;
  readonly truncated: boolean;
}

interface Evaluator {
  readonly backend: string;
  readonly native: NativeCalls;
  readonly channel: PageChannel;
  /** An expression whose value has `jsonForm(value, depthMax)`. */
  readonly jsonForm: string;
}

/** Evaluates a caller's function or expression in the page. */
export async function evaluate(
  { backend, native, channel, jsonForm }: Evaluator,
  { source, args, ref, awaitPromise, timeoutMs }: EvaluateRequest,
  call: EngineCall,
): Promise<Evaluated> {
  const given = args.map((value) => JSON.stringify(value) ?? 'undefined');
  const limit = timeoutMs + SCRIPT_MARGIN_MS;
  if (!(await channel.runsScripts(call))) {
    // Such an engine evaluates the caller's text, and its response is the result.
    if (ref !== undefined) throw notSupported(backend, 'scripts with an element');
    const isPlain = given.length === 0 && !FUNCTION.test(source);
    const evaluated = await native.evaluate(isPlain ? source : valueOf(source, given), call, limit);
    if (!evaluated.ok) throw evaluationFailed(evaluated.failure);
    const { value, type = value === null ? 'null' : typeof value } = evaluated;
    return { json: JSON.stringify(value), type, truncated: false };
  }
  if (ref !== undefined) given.unshift(`state.scripts.elementOf(${JSON.stringify(ref)})`);
  const body = `async (state) => {
    const made = ${valueOf(source, given)};
    const value = ${awaitPromise ? 'await made' : 'made'};
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    return { ...${jsonForm}.jsonForm(value, ${DEPTH_MAX}), type };
  }`;
  const result = await channel.run(body, call, limit);
  const problem = result.ok ? result.response.error : result.failure;
  if (!result.ok || problem !== undefined) throw evaluationFailed(problem ?? {});
  return result.response.value as Evaluated;
}

/** The script as an expression: a function is called, statements with `return` become a function body, others are evaluated. */
function valueOf(text: string, given: readonly string[]): string {
  let source = text.trimEnd();
  while (source.endsWith(';')) source = source.slice(0, -1).trimEnd();
  const expression = `(${source}\n)`;
  const isExpression = parses(`async () => ${expression}`);
  if (isExpression && FUNCTION.test(source)) return `${expression}(${given.join(', ')})`;
  if (given.length > 0) return `((element) => ${expression})(${given.join(', ')})`;
  if (isExpression) return expression;
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
}): EngineError {
  const { name = 'Error', message = 'no reason given', stack = '' } = problem;
  return new EngineError('EVALUATION_FAILED', `The script threw ${name}: ${message}.`, {
    hint: 'Correct the script and call again.',
    details: { name, message, stack, line: null, column: null },
  });
}
