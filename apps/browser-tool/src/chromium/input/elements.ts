import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineCall, ElementReport } from '../../engine.ts';
import type { PageQuery } from '../../injected/find-elements.ts';
import type { NotReady, ReadinessRequest, ReadyPoint } from '../../injected/readiness.ts';
import { notReadyError } from '../../session/element-errors.ts';
import type { RefRegistry } from '../../session/ref-registry.ts';
import { parseTarget } from '../../session/target.ts';
import { pageError } from '../../errors.ts';
import {
  DocumentUnloadedError,
  isDocumentUnloaded,
  type PageScripts,
} from '../page/page-scripts.ts';
import { respondsToScripts } from '../page/frame-responses.ts';
import { documentIdOf, shownUrl, type Frame } from '../page/frames.ts';
import type { Page } from '../page/page.ts';

/** An element and its frame. */
export interface FoundElement {
  readonly frameId: string;
  readonly element: ElementReport;
}

/** An element that is ready for an action, and the point to act on. */
export interface ReadyElement extends FoundElement {
  readonly point: InputPoint;
}

/** A point for mouse events, in the outermost document of its process within the page. */
export interface InputPoint extends ReadyPoint {
  /** The session of that process. */
  readonly sessionId: string;
}

type ReadyOptions = Omit<ReadinessRequest, 'query'>;

interface NotReadyElement extends NotReady {
  /** Whether an element of a parent document covers it. */
  readonly isOuterCover?: boolean;
}

/** A point of a frame. */
interface PagePoint {
  /** Its position on the page. */
  readonly point: ReadyPoint;
  /** Where to send mouse events for it. */
  readonly inputPoint: InputPoint;
  /** The element of an outer document that covers it. */
  readonly cover: NotReady['cover'];
}

/** Finds the elements that callers name, in any frame. */
export interface Elements {
  /** Waits until it is ready for the action. */
  ready(page: Page, target: string, options: ReadyOptions, call: EngineCall): Promise<ReadyElement>;
  /** The frame of a target: the frame of the ref, or the first frame that has a matching element. */
  frameFor(page: Page, target: string, call: EngineCall): Promise<string>;
  /** Scrolls a frame's point into view, and returns its positions and the element that covers it. */
  pagePoint(page: Page, frameId: string, point: ReadyPoint, call: EngineCall): Promise<PagePoint>;
  /** All frames of a page, the outer ones first. */
  framesOf(page: Page): readonly Frame[];
}

const FRAME_POLL_MS = 100;
const COVERED_FRAME_TIMEOUT_MS = 1_000;

/** Finds elements in the pages of a session. */
export function createElements(scripts: PageScripts, refs: RefRegistry): Elements {
  function framesOf(page: Page): readonly Frame[] {
    const below = (frame: Frame): readonly Frame[] => [
      frame,
      ...page.frames.children(frame.id).flatMap(below),
    ];
    return below(page.main);
  }

  function frameOfRef(page: Page, ref: string): string {
    const document = refs.find(Number(ref.slice(1)));
    if (document === undefined) throw pageError('neverIssued', { target: ref }, { target: ref });
    const frame = framesOf(page).find((each) => documentIdOf(each) === document.id);
    if (frame !== undefined) return frame.id;
    const [was, now] = [document.url, shownUrl(page.main)];
    throw pageError('staleDocument', { target: ref, was, now }, { target: ref, was, now });
  }

  /** Whether a frame has the answer to a query: its elements, or that it is no valid selector. */
  async function isAnsweredIn(
    page: Page,
    frame: Frame,
    query: PageQuery,
    call: EngineCall,
  ): Promise<boolean> {
    try {
      if (!(await respondsToScripts(page, frame))) return false;
      const found = await scripts.call(page, frame.id, 'count', { query }, call);
      return !found.ok || found.count > 0;
    } catch (error) {
      if (isDocumentUnloaded(error)) return false;
      throw error;
    }
  }

  async function frameWith(
    page: Page,
    query: PageQuery,
    call: EngineCall,
  ): Promise<string | undefined> {
    const frames = framesOf(page);
    if (frames.length === 1) return page.main.id;
    for (const frame of frames) {
      if (await isAnsweredIn(page, frame, query, call)) return frame.id;
    }
    return undefined;
  }

  async function pagePoint(
    page: Page,
    frameId: string,
    start: ReadyPoint,
    call: EngineCall,
  ): Promise<PagePoint> {
    let frame = page.frames.find(frameId);
    const sessionId = frame?.sessionId ?? page.sessionId;
    let point = start;
    let inputPoint: InputPoint = { ...point, sessionId };
    let isSameProcess = true;
    let cover: NotReady['cover'];
    let scale = 1;
    while (frame?.parentId !== undefined) {
      const outer = await scripts.pointInParent(page, frame, point, call);
      point = { x: outer.x, y: outer.y };
      cover ??= outer.cover;
      scale = outer.scale;
      frame = page.frames.find(frame.parentId);
      isSameProcess &&= frame?.sessionId === sessionId;
      if (isSameProcess) inputPoint = { ...point, sessionId };
    }
    // The browser multiplies positions by the zoom of the page, such as a wide one on a phone. Its other processes are not zoomed.
    if (sessionId !== page.sessionId)
      inputPoint = { ...inputPoint, x: inputPoint.x / scale, y: inputPoint.y / scale };
    return { point, inputPoint, cover };
  }

  /** One attempt; undefined if the element does not exist yet or its document was unloaded. */
  async function tryReady(
    page: Page,
    query: PageQuery,
    options: ReadyOptions,
    call: EngineCall,
  ): Promise<ReadyElement | NotReadyElement | undefined> {
    const frameId =
      query.kind === 'ref' ? frameOfRef(page, query.ref) : await frameWith(page, query, call);
    if (frameId === undefined) return undefined;
    const frame = page.frames.find(frameId);
    if (frame !== undefined && !(await respondsToScripts(page, frame))) throw frameSilent(frame);
    try {
      const state = await scripts.call(page, frameId, 'ready', { query, ...options }, call);
      if (!state.ok) return state;
      const { inputPoint, cover } = await pagePoint(page, frameId, state.point, call);
      if (cover === undefined || options.force)
        return { frameId, element: state.element, point: inputPoint };
      // No press follows; the next one in this frame may be for another element.
      if (options.expectsPress === true)
        await scripts.call(page, frameId, 'pressArrival', undefined, call);
      return { ok: false, why: 'covered', element: state.element, cover, isOuterCover: true };
    } catch (error) {
      if (!isDocumentUnloaded(error)) throw error;
      return undefined;
    }
  }

  return {
    framesOf,
    pagePoint,
    async frameFor(page, target, call) {
      const query = parseTarget(target);
      if (query.kind === 'ref') return frameOfRef(page, query.ref);
      return (await frameWith(page, query, call)) ?? page.main.id;
    },
    async ready(page, target, options, call) {
      const query = parseTarget(target);
      const start = performance.now();
      let coveredSince: number | undefined;
      for (;;) {
        const waited = performance.now() - start;
        const timeoutMs = Math.max(0, options.timeoutMs - waited);
        const state = await tryReady(page, query, { ...options, timeoutMs }, call);
        call.signal.throwIfAborted();
        if (state !== undefined && 'frameId' in state) return state;
        const now = performance.now();
        // The page script waits within one document; this loop waits for a cover in a parent document.
        const isOuterCover = state?.isOuterCover === true;
        coveredSince = isOuterCover ? (coveredSince ?? now) : undefined;
        const mayChange =
          state === undefined ||
          state.mayChange === true ||
          (isOuterCover && now - (coveredSince ?? now) < COVERED_FRAME_TIMEOUT_MS);
        if (!mayChange || now - start >= options.timeoutMs) {
          const why: NotReady = state ?? { ok: false, why: 'not-found' };
          throw notReadyError(target, why, options.timeoutMs);
        }
        await sleep(FRAME_POLL_MS, undefined, { signal: call.signal }).catch(() => undefined);
        if (page.hasEnded) throw new DocumentUnloadedError('the tab was closed');
      }
    },
  };
}

/** The target is in a frame that runs no scripts. */
function frameSilent(frame: Frame): Error {
  const url = shownUrl(frame);
  return pageError('frameSilent', { frame: url || 'another site' }, { frame: url });
}
