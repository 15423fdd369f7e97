import { describeError } from '@model-gateway/kernel';
import type { EngineCall } from '../engine.ts';
import type {
  ScriptResponse,
  ScriptMethods,
  ScriptResults,
  FramePoint,
} from '../page-scripts/script-methods.ts';
import type { ReadyPoint } from '../page-scripts/readiness.ts';
import { scriptCall, scriptSource } from '../page-scripts/source.ts';
import type { RefRegistry } from '../session/ref-registry.ts';
import { ToolError } from '../tool-error.ts';
import { CdpError } from './cdp-connection.ts';
import { SCRIPTS_WORLD, documentIdOf, shownUrl, type Frame, type ScriptContext } from './frames.ts';
import { SCRIPTS_NAME, type Page } from './page.ts';

/** The document that a script ran in went away meanwhile. */
export class DocumentUnloadedError extends Error {
  override readonly name = 'DocumentUnloadedError';
}

/** Asks the scripts in a page. */
export interface PageScripts {
  call<Method extends keyof ScriptMethods>(
    page: Page,
    frameId: string,
    method: Method,
    parameters: Parameters<ScriptMethods[Method]>[0],
    call: EngineCall,
  ): Promise<ScriptResults[Method]>;
  /** The element of a ref as an object that commands can name; undefined once it is gone. */
  handle(page: Page, frameId: string, ref: string, call: EngineCall): Promise<string | undefined>;
  /** Where a point of a frame is in its parent, and what covers it there. */
  pointInParent(page: Page, frame: Frame, point: ReadyPoint, call: EngineCall): Promise<FramePoint>;
  /** The ref of the element that a frame is shown in; empty where nobody was told of that element. */
  frameElementRef(page: Page, frame: Frame, call: EngineCall): Promise<string>;
}

const CONTEXT_TIMEOUT_MS = 2_000;
// A frame whose document never comes has none until we make one, and there may be many of them.
const FRAME_CONTEXT_TIMEOUT_MS = 100;
const GONE =
  /context was destroyed|context with specified id|navigated or closed|Session with given id|Target closed|context not found|uniqueContextId|Promise was collected|No frame/i;

/** Whether an answer of the browser means that the document changed under a command. */
export function isDocumentUnloaded(error: unknown): boolean {
  return (
    error instanceof DocumentUnloadedError ||
    (error instanceof CdpError && GONE.test(describeError(error)))
  );
}

/** An scripts whose refs count on from those of the session. */
export function createPageScripts(refs: RefRegistry): PageScripts {
  /** The context of our world in a frame; made anew where the browser did not make it. */
  async function contextOf(
    page: Page,
    frameId: string,
    { signal }: EngineCall,
  ): Promise<[Frame, ScriptContext]> {
    const context = (): ScriptContext | undefined => page.frames.find(frameId)?.toolContext;
    const isThere = await page.changes.until(
      () => context() !== undefined || page.isGone || page.frames.find(frameId) === undefined,
      {
        timeoutMs: frameId === page.main.id ? CONTEXT_TIMEOUT_MS : FRAME_CONTEXT_TIMEOUT_MS,
        signal,
      },
    );
    const frame = page.frames.find(frameId);
    if (frame === undefined || page.isGone) throw new DocumentUnloadedError('the frame is gone');
    const known = context();
    if (isThere && known !== undefined) return [frame, known];
    const { executionContextId } = await page.send(
      'Page.createIsolatedWorld',
      { frameId, worldName: SCRIPTS_WORLD },
      frame.sessionId,
    );
    await page.send(
      'Runtime.evaluate',
      {
        expression: `globalThis.${SCRIPTS_NAME} ??= ${scriptSource}; 0`,
        contextId: executionContextId,
      },
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
      const { result, exceptionDetails } = await page.send(
        'Runtime.evaluate',
        { expression, uniqueContextId, awaitPromise: true, returnByValue: byValue },
        frame.sessionId,
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
        throw new DocumentUnloadedError('the document is gone', { cause: error });
      throw error;
    }
  }

  /** Runs a function in the document around a frame, with the element that shows the frame as `this`. */
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
    if (object.objectId === undefined) throw new DocumentUnloadedError('the frame is gone');
    const { result, exceptionDetails } = await page.send(
      'Runtime.callFunctionOn',
      {
        functionDeclaration: body,
        objectId: object.objectId,
        awaitPromise: true,
        returnByValue: true,
      },
      parent.sessionId,
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
      const expression = scriptCall(SCRIPTS_NAME, method, parameters ?? {}, refs.next);
      const { frame, result } = await evaluate(page, frameId, expression, true, call);
      const answer = result.value as ScriptResponse<Method>;
      refs.advance(answer.next, { id: documentIdOf(frame), url: shownUrl(frame) });
      return answer.value;
    },
    async handle(page, frameId, ref, call) {
      const expression = `${SCRIPTS_NAME}.elementOf(${JSON.stringify(ref)})`;
      const { result } = await evaluate(page, frameId, expression, false, call);
      return result.objectId;
    },
    async pointInParent(page, frame, { x, y }, call) {
      const parent = parentOf(page, frame);
      const answer = await callOnFrameElement<FramePoint>(
        page,
        frame,
        `function () { return ${SCRIPTS_NAME}.pointInParent(this, ${x}, ${y}, ${refs.next}) }`,
        call,
      );
      refs.advance(answer.next, { id: documentIdOf(parent), url: shownUrl(parent) });
      return answer;
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
  if (parent === undefined) throw new DocumentUnloadedError('the frame is gone');
  return parent;
}
