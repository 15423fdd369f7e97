import { Script } from 'node:vm';
import type { EngineCall } from './engine-call.ts';
import { EngineError, notSupported } from './errors.ts';
import type { NativeCalls } from './native-calls.ts';
import type { PageChannel } from './page-channel.ts';

const DEPTH_MAX = 20;
const SCRIPT_MARGIN_MS = 1_000;
// What may be before a function.
const BEFORE = /^(?:[\s(]|\/\/[^\n]*\n|\/\*(?:(?!\*\/).)*\*\/)*/s;
// For an engine that runs only the caller's text.
const FUNCTION = /^\s*(?:(?:async\s+)?function\b|(?:async\s*)?(?:[\w$]+|\([^()]*\))\s*=>)/;

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
  evaluator: Evaluator,
  request: EvaluateRequest,
  call: EngineCall,
): Promise<Evaluated> {
  const { channel, jsonForm } = evaluator;
  const { args, ref, awaitPromise, timeoutMs } = request;
  if (!(await channel.runsScripts(call))) return evaluatePlain(evaluator, request, call);
  const given = args.map(toSource);
  if (ref !== undefined) given.unshift(`state.scripts.elementOf(${JSON.stringify(ref)})`);
  const source = withoutSemicolons(request.source);
  // A function that an expression assigns or only refers to is not called.
  const last = BEFORE.exec(source)?.[0].length ?? 0;
  const body = `async (state) => {
    const given = [${given.join(', ')}];
    ${given.length === 0 ? '' : 'const [element] = given;'}
    const made = ${toExpression(source)};
    const at = typeof made === 'function' ? ${JSON.stringify(source)}.indexOf(made) : -1;
    const called = at >= 0 && at <= ${last} ? made(...given) : made;
    const value = ${awaitPromise ? 'await called' : 'called'};
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    return { ...${jsonForm}.jsonForm(value, ${DEPTH_MAX}), type };
  }`;
  const result = await channel.run(body, call, timeoutMs + SCRIPT_MARGIN_MS);
  const problem = result.ok ? result.response.error : result.failure;
  if (!result.ok || problem !== undefined) throw evaluationFailed(problem ?? {});
  return result.response.value as Evaluated;
}

/** For an engine that cannot run the tool's scripts: it evaluates the caller's text, and its response is the result. */
async function evaluatePlain(
  { backend, native }: Evaluator,
  { source, args, ref, timeoutMs }: EvaluateRequest,
  call: EngineCall,
): Promise<Evaluated> {
  if (ref !== undefined) throw notSupported(backend, 'scripts with an element');
  const given = args.map(toSource).join(', ');
  const expression = `(${withoutSemicolons(source)}\n)`;
  const applied = FUNCTION.test(source) ? expression : `((element) => ${expression})`;
  const isPlain = args.length === 0 && applied !== expression;
  const text = isPlain ? source : `${applied}(${given})`;
  const evaluated = await native.evaluate(text, call, timeoutMs + SCRIPT_MARGIN_MS);
  if (!evaluated.ok) throw evaluationFailed(evaluated.failure);
  const { value, type = value === null ? 'null' : typeof value } = evaluated;
  return { json: JSON.stringify(value), type, truncated: false };
}

/** An expression as it is; statements with `return` or `await` as the body of a function, others evaluated. */
function toExpression(source: string): string {
  const expression = `(${source}\n)`;
  if (parses(`async () => ${expression}`)) return expression;
  const body = `(async () => {${source}\n})()`;
  if (/\b(return|await)\b/.test(source) && parses(body)) return body;
  return `(0, eval)(${JSON.stringify(source)})`;
}

function toSource(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

function withoutSemicolons(text: string): string {
  let source = text.trimEnd();
  while (source.endsWith(';')) source = source.slice(0, -1).trimEnd();
  return source;
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
