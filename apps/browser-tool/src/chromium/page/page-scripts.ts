import { describeError } from '@model-gateway/kernel';
import type { Protocol } from 'devtools-protocol';
import type { EngineCall } from '../../engine.ts';
import type {
  ScriptResponse,
  ScriptMethods,
  ScriptResults,
  FramePoint,
} from '../../injected/main.ts';
import type { ReadyPoint } from '../../injected/readiness.ts';
import { injectedSource } from '../../injected-source.ts';
import type { RefRegistry } from '../../session/ref-registry.ts';
import { ToolError } from '../../errors.ts';
import { CdpError } from '../cdp-connection.ts';
import { SCRIPTS_WORLD, documentIdOf, shownUrl, type Frame, type ScriptContext } from './frames.ts';
import { SCRIPTS_NAME, type Page } from './page.ts';

/** The document was unloaded while a script ran in it. */
export class DocumentUnloadedError extends Error {
  override readonly name = 'DocumentUnloadedError';
}

/** Calls the tool's scripts in a page. */
export interface PageScripts {
  call<Method extends keyof ScriptMethods>(
    page: Page,
    frameId: string,
    method: Method,
    parameters: Parameters<ScriptMethods[Method]>[0],
    call: EngineCall,
  ): Promise<ScriptResults[Method]>;
  /** The remote object id of a ref's element; undefined once it is removed. */
  handle(page: Page, frameId: string, ref: string, call: EngineCall): Promise<string | undefined>;
  /** The position of a frame's point in the parent document, and the element that covers it there. */
  pointInParent(page: Page, frame: Frame, point: ReadyPoint, call: EngineCall): Promise<FramePoint>;
  /** Gives a frame the keyboard focus, and the frames around it. */
  focusFrame(page: Page, frameId: string, call: EngineCall): Promise<void>;
  /** The ref of the element that shows a frame; empty if that element has none. */
  frameElementRef(page: Page, frame: Frame, call: EngineCall): Promise<string>;
}

const CONTEXT_TIMEOUT_MS = 2_000;
// A frame whose document never loads has no context until the tool creates one, and there may be many such frames.
const FRAME_CONTEXT_TIMEOUT_MS = 100;
const INSTALL = `globalThis.${SCRIPTS_NAME} ??= ${injectedSource}; 0`;
const MISSING = `ReferenceError: ${SCRIPTS_NAME} is not defined`;
const UNLOADED =
  /context was destroyed|context with specified id|navigated or closed|Session with given id|Target closed|context not found|uniqueContextId|Promise was collected|No frame/i;

/** Whether an error means that the document was unloaded during a command. */
export function isDocumentUnloaded(error: unknown): boolean {
  return (
    error instanceof DocumentUnloadedError ||
    (error instanceof CdpError && UNLOADED.test(describeError(error)))
  );
}

/**
 * Runs a script, and again after installing the tool's scripts if they are missing: when a script of a page is ended, those of the
 * tool may just have been starting in a new document.
 */
async function installIfMissing<
  Answer extends { readonly exceptionDetails?: Protocol.Runtime.ExceptionDetails | undefined },
>(run: () => Promise<Answer>, install: () => Promise<unknown>): Promise<Answer> {
  const answer = await run();
  if (answer.exceptionDetails?.exception?.description?.startsWith(MISSING) !== true) return answer;
  await install();
  return run();
}

/** Numbers refs with the counter of the session. */
export function createPageScripts(refs: RefRegistry): PageScripts {
  /** The tool's script context in a frame; created if the browser did not create it. */
  async function contextOf(
    page: Page,
    frameId: string,
    { signal }: EngineCall,
  ): Promise<[Frame, ScriptContext]> {
    const context = (): ScriptContext | undefined => page.frames.find(frameId)?.toolContext;
    const isThere = await page.changes.until(
      () => context() !== undefined || page.hasEnded || page.frames.find(frameId) === undefined,
      {
        timeoutMs: frameId === page.main.id ? CONTEXT_TIMEOUT_MS : FRAME_CONTEXT_TIMEOUT_MS,
        signal,
      },
    );
    const frame = page.frames.find(frameId);
    if (frame === undefined || page.hasEnded)
      throw new DocumentUnloadedError('the frame was removed');
    const known = context();
    if (isThere && known !== undefined) return [frame, known];
    const { executionContextId } = await page.send(
      'Page.createIsolatedWorld',
      { frameId, worldName: SCRIPTS_WORLD },
      frame.sessionId,
    );
    await page.send(
      'Runtime.evaluate',
      { expression: INSTALL, contextId: executionContextId },
      frame.sessionId,
    );
    const made = context();
    if (made === undefined) throw new DocumentUnloadedError('the frame has no context');
    return [frame, made];
  }

  async function evaluate(
    page: Page,
    frameId: string,
    expression: string,
    byValue: boolean,
    call: EngineCall,
  ) {
    const [frame, { uniqueId: uniqueContextId }] = await contextOf(page, frameId, call);
    try {
      const send = (source: string) =>
        page.send(
          'Runtime.evaluate',
          { expression: source, uniqueContextId, awaitPromise: true, returnByValue: byValue },
          frame.sessionId,
        );
      const { result, exceptionDetails } = await installIfMissing(
        () => send(expression),
        () => send(INSTALL),
      );
      call.signal.throwIfAborted();
      if (exceptionDetails !== undefined) {
        const text = exceptionDetails.exception?.description ?? exceptionDetails.text;
        throw new ToolError('INTERNAL', `A script of the tool failed in the page: ${text}`);
      }
      return { frame, result };
    } catch (error) {
      call.signal.throwIfAborted();
      if (isDocumentUnloaded(error))
        throw new DocumentUnloadedError('the document was unloaded', { cause: error });
      throw error;
    }
  }

  /** If the call is aborted, the script still runs, and must not issue the refs of another document. */
  async function withReservedRefs<Result>(
    page: Page,
    frameId: string,
    { signal }: EngineCall,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const onAbort = (): void => {
      const frame = page.frames.find(frameId);
      if (frame !== undefined) refs.reserve({ id: documentIdOf(frame), url: shownUrl(frame) });
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return work().finally(() => signal.removeEventListener('abort', onAbort));
  }

  /** Runs a function in the parent document of a frame, with the element that shows the frame as `this`. */
  async function callOnFrameElement<Result>(
    page: Page,
    frame: Frame,
    body: string,
    call: EngineCall,
  ): Promise<Result> {
    const parent = parentOf(page, frame);
    const [, { id: executionContextId }] = await contextOf(page, parent.id, call);
    const { backendNodeId } = await page.send(
      'DOM.getFrameOwner',
      { frameId: frame.id },
      parent.sessionId,
    );
    const { object } = await page.send(
      'DOM.resolveNode',
      { backendNodeId, executionContextId },
      parent.sessionId,
    );
    if (object.objectId === undefined) throw new DocumentUnloadedError('the frame was removed');
    const { objectId } = object;
    const { result, exceptionDetails } = await installIfMissing(
      () =>
        page.send(
          'Runtime.callFunctionOn',
          { functionDeclaration: body, objectId, awaitPromise: true, returnByValue: true },
          parent.sessionId,
        ),
      () =>
        page.send(
          'Runtime.evaluate',
          { expression: INSTALL, contextId: executionContextId },
          parent.sessionId,
        ),
    );
    if (exceptionDetails !== undefined) throw new DocumentUnloadedError(exceptionDetails.text);
    return result.value as Result;
  }

  return {
    async call<Method extends keyof ScriptMethods>(
      page: Page,
      frameId: string,
      method: Method,
      parameters: Parameters<ScriptMethods[Method]>[0],
      call: EngineCall,
    ) {
      // The browser takes much longer to copy an object with many parts than its text.
      const given = JSON.stringify([method, parameters ?? {}, refs.next]);
      const expression = `${SCRIPTS_NAME}.callScript(...${given}).then(JSON.stringify)`;
      const { frame, result } = await withReservedRefs(page, frameId, call, () =>
        evaluate(page, frameId, expression, true, call),
      );
      const response = JSON.parse(String(result.value)) as ScriptResponse<Method>;
      refs.advance(response.next, { id: documentIdOf(frame), url: shownUrl(frame) });
      return response.value;
    },
    async handle(page, frameId, ref, call) {
      const expression = `${SCRIPTS_NAME}.elementOf(${JSON.stringify(ref)})`;
      const { result } = await evaluate(page, frameId, expression, false, call);
      return result.objectId;
    },
    async pointInParent(page, frame, { x, y }, call) {
      const parent = parentOf(page, frame);
      const point = await callOnFrameElement<FramePoint>(
        page,
        frame,
        `function () { return ${SCRIPTS_NAME}.pointInParent(this, ${x}, ${y}, ${refs.next}) }`,
        call,
      );
      refs.advance(point.next, { id: documentIdOf(parent), url: shownUrl(parent) });
      return point;
    },
    async focusFrame(page, frameId, call) {
      const path: Frame[] = [];
      for (
        let frame = page.frames.find(frameId);
        frame?.parentId !== undefined;
        frame = page.frames.find(frame.parentId)
      )
        path.unshift(frame);
      for (const frame of path)
        await callOnFrameElement(page, frame, 'function () { this.focus() }', call);
    },
    frameElementRef: (page, frame, call) =>
      callOnFrameElement<string>(
        page,
        frame,
        `function () { return ${SCRIPTS_NAME}.issuedRefOf(this) }`,
        call,
      ),
  };
}

function parentOf(page: Page, { parentId }: Frame): Frame {
  const parent = parentId === undefined ? undefined : page.frames.find(parentId);
  if (parent === undefined) throw new DocumentUnloadedError('the frame was removed');
  return parent;
}
