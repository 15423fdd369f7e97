import { describeError } from '@model-gateway/kernel';
import type { Call } from '../engine.ts';
import type {
  AgentAnswer,
  AgentMethods,
  AgentResults,
  FramePoint,
} from '../page-scripts/page-agent.ts';
import type { ReadyPoint } from '../page-scripts/readiness.ts';
import { agentCall, agentSource } from '../page-scripts/source.ts';
import type { RefBook } from '../session/ref-book.ts';
import { ToolError } from '../tool-error.ts';
import { CdpError } from './connection.ts';
import { AGENT_WORLD, documentIdOf, shownUrl, type Frame, type ScriptContext } from './frames.ts';
import { AGENT_NAME, type Page } from './page.ts';

/** The document that a script ran in went away meanwhile. */
export class DocumentGone extends Error {
  override readonly name = 'DocumentGone';
}

/** Asks the scripts in a page. */
export interface Agent {
  call<Method extends keyof AgentMethods>(
    page: Page,
    frameId: string,
    method: Method,
    parameters: Parameters<AgentMethods[Method]>[0],
    call: Call,
  ): Promise<AgentResults[Method]>;
  /** The element of a ref as an object that commands can name; undefined once it is gone. */
  handle(page: Page, frameId: string, ref: string, call: Call): Promise<string | undefined>;
  /** Where a point of a frame is in its parent, and what covers it there. */
  throughFrame(page: Page, frame: Frame, point: ReadyPoint, call: Call): Promise<FramePoint>;
  /** The ref of the element that a frame is shown in; empty where nobody was told of that element. */
  ownerRef(page: Page, frame: Frame, call: Call): Promise<string>;
}

const CONTEXT_TIMEOUT_MS = 2_000;
// A frame whose document never comes has none until we make one, and there may be many of them.
const FRAME_CONTEXT_TIMEOUT_MS = 100;
const GONE =
  /context was destroyed|context with specified id|navigated or closed|Session with given id|Target closed|context not found|uniqueContextId|Promise was collected|No frame/i;

/** Whether an answer of the browser means that the document changed under a command. */
export function isDocumentGone(error: unknown): boolean {
  return (
    error instanceof DocumentGone || (error instanceof CdpError && GONE.test(describeError(error)))
  );
}

/** An agent whose refs count on from those of the session. */
export function createAgent(refs: RefBook): Agent {
  /** The context of our world in a frame; made anew where the browser did not make it. */
  async function contextOf(
    page: Page,
    frameId: string,
    { signal }: Call,
  ): Promise<[Frame, ScriptContext]> {
    const context = (): ScriptContext | undefined => page.frames.find(frameId)?.agentContext;
    const isThere = await page.changes.until(
      () => context() !== undefined || page.isGone || page.frames.find(frameId) === undefined,
      {
        timeoutMs: frameId === page.main.id ? CONTEXT_TIMEOUT_MS : FRAME_CONTEXT_TIMEOUT_MS,
        signal,
      },
    );
    const frame = page.frames.find(frameId);
    if (frame === undefined || page.isGone) throw new DocumentGone('the frame is gone');
    const known = context();
    if (isThere && known !== undefined) return [frame, known];
    const { executionContextId } = await page.send(
      'Page.createIsolatedWorld',
      { frameId, worldName: AGENT_WORLD },
      frame.sessionId,
    );
    await page.send(
      'Runtime.evaluate',
      {
        expression: `globalThis.${AGENT_NAME} ??= ${agentSource}; 0`,
        contextId: executionContextId,
      },
      frame.sessionId,
    );
    const made = context();
    if (made === undefined) throw new DocumentGone('the frame has no context');
    return [frame, made];
  }

  async function evaluate(
    page: Page,
    frameId: string,
    expression: string,
    byValue: boolean,
    call: Call,
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
      if (isDocumentGone(error)) throw new DocumentGone('the document is gone', { cause: error });
      throw error;
    }
  }

  /** Runs a function in the document around a frame, with the element that shows the frame as `this`. */
  async function onOwner<Result>(
    page: Page,
    frame: Frame,
    body: string,
    call: Call,
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
    if (object.objectId === undefined) throw new DocumentGone('the frame is gone');
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
    if (exceptionDetails !== undefined) throw new DocumentGone(exceptionDetails.text);
    return result.value as Result;
  }

  return {
    async call<Method extends keyof AgentMethods>(
      page: Page,
      frameId: string,
      method: Method,
      parameters: Parameters<AgentMethods[Method]>[0],
      call: Call,
    ) {
      const expression = agentCall(AGENT_NAME, method, parameters ?? {}, refs.next);
      const { frame, result } = await evaluate(page, frameId, expression, true, call);
      const answer = result.value as AgentAnswer<Method>;
      refs.advance(answer.next, { id: documentIdOf(frame), url: shownUrl(frame) });
      return answer.value;
    },
    async handle(page, frameId, ref, call) {
      const expression = `${AGENT_NAME}.elementOf(${JSON.stringify(ref)})`;
      const { result } = await evaluate(page, frameId, expression, false, call);
      return result.objectId;
    },
    async throughFrame(page, frame, { x, y }, call) {
      const parent = parentOf(page, frame);
      const answer = await onOwner<FramePoint>(
        page,
        frame,
        `function () { return ${AGENT_NAME}.throughFrame(this, ${x}, ${y}, ${refs.next}) }`,
        call,
      );
      refs.advance(answer.next, { id: documentIdOf(parent), url: shownUrl(parent) });
      return answer;
    },
    ownerRef: (page, frame, call) =>
      onOwner<string>(page, frame, `function () { return ${AGENT_NAME}.issuedRefOf(this) }`, call),
  };
}

function parentOf(page: Page, { parentId }: Frame): Frame {
  const parent = parentId === undefined ? undefined : page.frames.find(parentId);
  if (parent === undefined) throw new DocumentGone('the frame is gone');
  return parent;
}
