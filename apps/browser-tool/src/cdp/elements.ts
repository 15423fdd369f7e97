import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineCall, ElementReport } from '../engine.ts';
import type { PageQuery } from '../page-scripts/find-elements.ts';
import type { NotReady, ReadinessRequest, ReadyPoint } from '../page-scripts/readiness.ts';
import { notReadyError } from '../session/not-ready.ts';
import type { RefRegistry } from '../session/ref-registry.ts';
import { parseTarget } from '../session/target.ts';
import { ToolError } from '../tool-error.ts';
import { DocumentUnloadedError, isDocumentUnloaded, type PageScripts } from './page-scripts.ts';
import { documentIdOf, shownUrl, type Frame } from './frames.ts';
import type { Page } from './page.ts';

/** An element and its frame. */
export interface FoundElement {
  readonly frameId: string;
  readonly element: ElementReport;
}

/** An element that is ready for an action, and the point to act on. */
export interface ReadyElement extends FoundElement {
  readonly point: ReadyPoint;
}

type ReadyOptions = Omit<ReadinessRequest, 'query'>;

/** Finds the elements that callers name, in any frame. */
export interface Elements {
  /** Waits until it is ready for the action. */
  ready(page: Page, target: string, options: ReadyOptions, call: EngineCall): Promise<ReadyElement>;
  /** The frame of a target: the frame of the ref, or the first frame that has a matching element. */
  frameFor(page: Page, target: string, call: EngineCall): Promise<string>;
  /** The position of a frame's point on the page, and the element that covers it there. */
  pagePoint(
    page: Page,
    frameId: string,
    point: ReadyPoint,
    call: EngineCall,
  ): Promise<{ readonly point: ReadyPoint; readonly cover: NotReady['cover'] }>;
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
    if (document === undefined) {
      throw new ToolError('ELEMENT_NOT_FOUND', `${ref} was never issued.`, {
        hint: 'Call browser_snapshot for refs.',
        details: { target: ref },
      });
    }
    const frame = framesOf(page).find((each) => documentIdOf(each) === document.id);
    if (frame !== undefined) return frame.id;
    const now = shownUrl(page.main);
    throw new ToolError(
      'STALE_REF',
      `${ref} belonged to ${document.url} which is no longer loaded (now ${now}).`,
      {
        hint: 'Call browser_snapshot for fresh refs.',
        details: { target: ref, was: document.url, now },
      },
    );
  }

  async function countIn(
    page: Page,
    frame: Frame,
    query: PageQuery,
    call: EngineCall,
  ): Promise<number> {
    try {
      const found = await scripts.call(page, frame.id, 'count', { query }, call);
      return found.ok ? found.count : 0;
    } catch (error) {
      if (isDocumentUnloaded(error)) return 0;
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
      if ((await countIn(page, frame, query, call)) > 0) return frame.id;
    }
    return undefined;
  }

  async function pagePoint(page: Page, frameId: string, start: ReadyPoint, call: EngineCall) {
    let point = start;
    for (
      let frame = page.frames.find(frameId);
      frame?.parentId !== undefined;
      frame = page.frames.find(frame.parentId)
    ) {
      const { x, y, cover } = await scripts.pointInParent(page, frame, point, call);
      if (cover !== undefined) return { point, cover };
      point = { x, y };
    }
    return { point, cover: undefined };
  }

  /** One attempt; undefined if the element does not exist yet or its document was unloaded. */
  async function tryReady(
    page: Page,
    query: PageQuery,
    options: ReadyOptions,
    call: EngineCall,
  ): Promise<ReadyElement | NotReady | undefined> {
    const frameId =
      query.kind === 'ref' ? frameOfRef(page, query.ref) : await frameWith(page, query, call);
    if (frameId === undefined) return undefined;
    try {
      const state = await scripts.call(page, frameId, 'ready', { query, ...options }, call);
      if (!state.ok) return state;
      const { point, cover } = await pagePoint(page, frameId, state.point, call);
      if (cover === undefined || options.force) return { frameId, element: state.element, point };
      return { ok: false, why: 'covered', element: state.element, cover };
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
        const isOuterCover =
          state?.why === 'covered' && page.frames.children(page.main.id).length > 0;
        coveredSince = isOuterCover ? (coveredSince ?? now) : undefined;
        const mayChange =
          state === undefined ||
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
