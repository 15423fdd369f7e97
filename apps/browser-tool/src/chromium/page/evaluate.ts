import { withTimeout } from '@model-gateway/kernel';
import type { Protocol } from 'devtools-protocol';
import type { EvaluateRequest } from '../../commands/params.ts';
import type { EngineCall, EvaluateOutcome } from '../../engine.ts';
import type { JsonForm } from '../../injected/json-value.ts';
import { jsonFormSource } from '../../injected-source.ts';
import { pageError, ToolError } from '../../errors.ts';
import { isDocumentUnloaded, type PageScripts } from './page-scripts.ts';
import type { Elements } from '../input/elements.ts';
import { shownUrl, type Frame } from './frames.ts';
import type { Page } from './page.ts';
import { checkResultSize } from '../../session/result-size.ts';

const DEPTH_MAX = 20;
// The maximum of a timer.
const NEVER_MS = 2 ** 31 - 1;
const MOVE_TIMEOUT_MS = 2_000;
const END_TIMEOUT_MS = 1_000;
const THROWN_CHARS_MAX = 10_000;

type RemoteAnswer = Pick<Protocol.Runtime.EvaluateResponse, 'result' | 'exceptionDetails'>;

/** Runs an expression or a function in the page's main context. */
export async function evaluate(
  page: Page,
  scripts: PageScripts,
  elements: Elements,
  request: EvaluateRequest,
  call: EngineCall,
): Promise<EvaluateOutcome> {
  const { target } = request;
  const timeoutMs = request.timeoutMs - (await waitForDocument(page, request.timeoutMs, call));
  const frameId = target === undefined ? page.main.id : await elements.frameFor(page, target, call);
  const element =
    target === undefined
      ? undefined
      : await elementHandle(page, scripts, elements, frameId, target, call);
  const run = async (): Promise<EvaluateOutcome> => {
    const frame = page.frames.find(frameId) ?? page.main;
    const { result, exceptionDetails, offset } = await runSource(page, frame, request, element);
    if (exceptionDetails !== undefined) throw evaluationError(exceptionDetails, offset);
    return outcomeOf(page, frame, result);
  };
  const over = new AbortController();
  const signal = AbortSignal.any([call.signal, over.signal]);
  const document = documentOf(page, frameId);
  const hasNavigated = (): boolean => page.hasEnded || documentOf(page, frameId) !== document;
  let isLate = false;
  const onLate = (): void => void (isLate = true);
  const interruptions = [
    failAfter(page, timeoutMs, signal, onLate),
    failWhenNavigated(page, frameId, hasNavigated, signal),
  ];
  for (const interruption of interruptions) interruption.catch(() => undefined);
  try {
    const outcome = await Promise.race([run(), ...interruptions]);
    // Termination lets a waiting script run, whose result arrives before the timeout error.
    if (isLate) throw lateError(page, request.timeoutMs);
    return outcome;
  } catch (error) {
    // The error of a terminated script arrives before the timeout error.
    if (isLate) throw lateError(page, request.timeoutMs);
    if (!isDocumentUnloaded(error)) throw error;
    // The old document is unloaded before the new one is reported.
    await page.changes.until(hasNavigated, { timeoutMs: MOVE_TIMEOUT_MS, signal: call.signal });
    throw navigatedError(page, frameId);
  } finally {
    over.abort();
  }
}

/** Waits until a navigating page has its document, because no script runs before. Returns how long that took. */
async function waitForDocument(
  page: Page,
  timeoutMs: number,
  { signal }: EngineCall,
): Promise<number> {
  const { loading, changes } = page;
  if (!loading.isNavigating) return 0;
  const start = performance.now();
  const isThere = await changes.until(() => page.hasEnded || !loading.isNavigating, {
    timeoutMs,
    signal,
  });
  if (isThere) return Math.min(timeoutMs, performance.now() - start);
  throw lateError(page, timeoutMs);
}

async function elementHandle(
  page: Page,
  scripts: PageScripts,
  elements: Elements,
  frameId: string,
  target: string,
  call: EngineCall,
): Promise<string> {
  const options = { action: 'focus', force: false, timeoutMs: 1_000 } as const;
  const { element } = await elements.ready(page, target, options, call);
  const objectId = await scripts.handle(page, frameId, element.ref, call);
  const frame = page.frames.find(frameId);
  if (objectId === undefined || frame?.mainContext === undefined) {
    throw pageError('removed', { target });
  }
  // From the tool's context to the page's main context.
  const { node } = await page.send('DOM.describeNode', { objectId }, frame.sessionId);
  const { object } = await page.send(
    'DOM.resolveNode',
    { backendNodeId: node.backendNodeId, executionContextId: frame.mainContext.id },
    frame.sessionId,
  );
  return object.objectId ?? '';
}

/** What may be before a function. */
const BEFORE = /^(?:[\s(]|\/\/[^\n]*\n|\/\*(?:(?!\*\/).)*\*\/)*/s;
/** A function declaration has no value, unless it is in parentheses. */
const DECLARATION = /^\s*(?:async\s+)?function\b/;

/** The answer to a script, and how far the caller's text is from the start of the text that ran. */
interface ScriptAnswer extends RemoteAnswer {
  readonly offset?: { readonly lines: number; readonly columns: number };
}

/** Runs an expression, or calls the function that it is. Anything else, such as statements, runs as it is. */
async function runSource(
  page: Page,
  frame: Frame,
  { function: given, args, awaitPromise }: EvaluateRequest,
  element: string | undefined,
): Promise<ScriptAnswer> {
  const { sessionId, mainContext } = frame;
  const context = mainContext === undefined ? {} : { uniqueContextId: mainContext.uniqueId };
  const source = withoutSemicolons(given);
  const callArguments = [
    ...(element === undefined ? [] : [{ objectId: element }]),
    ...args.map(argument),
  ];
  const answer: ScriptAnswer =
    callArguments.length === 0
      ? await runText(page, given, source, context, sessionId)
      : await page.send(
          'Runtime.callFunctionOn',
          {
            functionDeclaration: `(element) => (\n${source}\n)`,
            arguments: callArguments,
            awaitPromise,
            userGesture: true,
            ...context,
          },
          sessionId,
        );
  const { offset = { lines: 1, columns: 0 } } = answer;
  const { type, subtype, objectId, description = '' } = answer.result;
  if (objectId === undefined || answer.exceptionDetails !== undefined) return { ...answer, offset };
  if (type === 'function' && isFunctionText(source, description)) {
    const called = await page.send(
      'Runtime.callFunctionOn',
      {
        functionDeclaration: 'function (...given) { return this(...given) }',
        objectId,
        arguments: callArguments,
        awaitPromise,
        userGesture: true,
      },
      sessionId,
    );
    return { ...called, offset };
  }
  if (!awaitPromise || subtype !== 'promise') return { ...answer, offset };
  const awaited = await page.send('Runtime.awaitPromise', { promiseObjectId: objectId }, sessionId);
  return { ...awaited, offset };
}

/** Runs a text as in a console: `await` works, and names can be declared again. A resulting promise is not awaited. */
async function runText(
  page: Page,
  given: string,
  source: string,
  context: { readonly uniqueContextId?: string },
  sessionId: string,
): Promise<ScriptAnswer> {
  const evaluateText = (expression: string): Promise<RemoteAnswer> =>
    page.send(
      'Runtime.evaluate',
      { expression, awaitPromise: true, userGesture: true, replMode: true, ...context },
      sessionId,
    );
  const declared = `(${source}\n)`;
  const isDeclaration = DECLARATION.test(source) && (await compiles(page, declared, sessionId));
  const offset = { lines: 0, columns: isDeclaration ? 1 : 0 };
  const answer = await evaluateText(isDeclaration ? declared : given);
  // Statements with a `return` are treated as a function body.
  return /Illegal return/.test(answer.exceptionDetails?.exception?.description ?? '')
    ? { ...(await evaluateText(`(async () => {${given}\n})()`)), offset }
    : { ...answer, offset };
}

/** Whether a text is a function, and not an expression that assigns or returns one. A class cannot be called. */
function isFunctionText(source: string, description: string): boolean {
  const at = description.startsWith('class') ? -1 : source.indexOf(description);
  return at >= 0 && at <= (BEFORE.exec(source)?.[0].length ?? 0);
}

/** Checks only the syntax; nothing runs. */
async function compiles(page: Page, expression: string, sessionId: string): Promise<boolean> {
  const script = { expression, sourceURL: '', persistScript: false };
  const { exceptionDetails } = await page.send('Runtime.compileScript', script, sessionId);
  return exceptionDetails === undefined;
}

/** Semicolons would end the expression too early. */
function withoutSemicolons(source: string): string {
  let text = source.trimEnd();
  while (text.endsWith(';')) text = text.slice(0, -1).trimEnd();
  return text;
}

function argument(value: unknown): Protocol.Runtime.CallArgument {
  return value === undefined ? { unserializableValue: 'undefined' } : { value };
}

async function outcomeOf(
  page: Page,
  frame: Frame,
  result: Protocol.Runtime.RemoteObject,
): Promise<EvaluateOutcome> {
  const { type, subtype, unserializableValue, objectId, description } = result;
  const value: unknown = result.value;
  if (unserializableValue !== undefined)
    return { result: unserializableValue, type, truncated: false };
  if (type === 'undefined') return { result: null, type, truncated: false };
  if (type === 'function' || type === 'symbol')
    return { result: description ?? `[${type}]`, type, truncated: false };
  if (objectId === undefined) {
    checkResultSize(typeof value === 'string' ? value.length : 0);
    return { result: value ?? null, type: subtype === 'null' ? 'null' : type, truncated: false };
  }
  const answer = await page.send(
    'Runtime.callFunctionOn',
    {
      functionDeclaration: `function () { return ${jsonFormSource}.jsonForm(this, ${DEPTH_MAX}) }`,
      objectId,
      returnByValue: true,
    },
    frame.sessionId,
  );
  void page.send('Runtime.releaseObject', { objectId }, frame.sessionId).catch(() => undefined);
  if (answer.exceptionDetails !== undefined) throw evaluationError(answer.exceptionDetails);
  const { json, truncated } = answer.result.value as JsonForm;
  checkResultSize(json?.length ?? 0);
  return {
    result: json === undefined ? null : (JSON.parse(json) as unknown),
    type: subtype === 'array' ? 'array' : type,
    truncated,
  };
}

/** The exception of a script as an error for the caller. */
function evaluationError(
  details: Protocol.Runtime.ExceptionDetails,
  offset = { lines: 0, columns: 0 },
): ToolError {
  const { exception, lineNumber, columnNumber, stackTrace, text } = details;
  const stack = exception?.description ?? text;
  const [first = text] = stack.split('\n');
  const parsed = /^(?:Uncaught )?([A-Za-z$_][\w$]*(?:Error|Exception)?): (.*)$/s.exec(first);
  const isError =
    exception?.subtype === 'error' || exception?.className?.endsWith('Exception') === true;
  const name = isError
    ? (parsed?.[1] ?? exception?.className ?? 'Error')
    : (exception?.type ?? 'Error');
  const message = isError ? (parsed?.[2] ?? first) : thrownText(exception, first);
  // In console mode the position of the exception is off by one, but its stack is correct.
  const position = stackTrace?.callFrames[0] ?? { lineNumber, columnNumber };
  const line = position.lineNumber - offset.lines + 1;
  const column = position.columnNumber - (line === 1 ? offset.columns : 0) + 1;
  return new ToolError(
    'EVALUATION_FAILED',
    `The script threw ${isError ? first : `${name} ${message}`} (line ${line}, column ${column}).`,
    {
      hint: 'Correct the script and call again.',
      details: { name, message: clip(message), stack: clip(stack), line, column },
    },
  );
}

/** Exceptions may have any length. */
function clip(text: string): string {
  return text.length <= THROWN_CHARS_MAX ? text : `${text.slice(0, THROWN_CHARS_MAX)}…`;
}

function thrownText(exception: Protocol.Runtime.RemoteObject | undefined, first: string): string {
  if (exception?.value !== undefined) return String(exception.value);
  if (exception?.type === 'undefined') return 'undefined';
  return exception?.unserializableValue ?? first;
}

/** Fails after the timeout and terminates the script, so that the page responds again. */
async function failAfter(
  page: Page,
  timeoutMs: number,
  signal: AbortSignal,
  onLate: () => void,
): Promise<never> {
  await page.changes.until(() => false, { timeoutMs, signal });
  onLate();
  const ended = page.send('Runtime.terminateExecution').catch(() => undefined);
  // A script that opens dialogs in a loop may not terminate.
  await withTimeout(ended, END_TIMEOUT_MS, () => undefined);
  throw lateError(page, timeoutMs);
}

/** A page that is navigating does not run scripts: then that is the reason, and not the script. */
function lateError({ loading }: Page, ms: number): ToolError {
  if (!loading.isNavigating) return pageError('scriptTimeout', { ms }, { timeout_ms: ms });
  const { pendingUrl: url } = loading;
  return pageError('stillNavigating', { url: url ?? 'another page', ms }, { timeout_ms: ms, url });
}

/** Fails when the page navigates, because the script's promise would never settle. */
async function failWhenNavigated(
  page: Page,
  frameId: string,
  hasNavigated: () => boolean,
  signal: AbortSignal,
): Promise<never> {
  await page.changes.until(hasNavigated, { timeoutMs: NEVER_MS, signal });
  throw navigatedError(page, frameId);
}

/** Differs for every document of a frame; undefined once the frame is removed. */
function documentOf(page: Page, frameId: string): string | undefined {
  return page.frames.find(frameId)?.loaderId;
}

function navigatedError(page: Page, frameId: string): ToolError {
  const now = shownUrl(page.frames.find(frameId) ?? page.main);
  const { sentence, hint, ...thrown } = page.hasEnded
    ? {
        sentence: `The tab of ${now} closed before the script finished.`,
        hint: 'Call again on the page that is shown now.',
        name: 'Closed',
        message: 'the tab closed',
      }
    : {
        sentence: `The page navigated to ${now} before the script finished.`,
        hint: 'Call again on the new page, or do not await what navigates.',
        name: 'Navigation',
        message: `navigated to ${now}`,
      };
  const details = { ...thrown, stack: '', line: null, column: null };
  return new ToolError('EVALUATION_FAILED', sentence, { hint, details });
}
