import type { CdpEvent } from '../cdp-connection.ts';

/** The name of the isolated world in pages where the tool's scripts run. */
export const SCRIPTS_WORLD = 'browser-tool';

/** A frame of a page: its document and its script contexts. */
export interface Frame {
  readonly id: string;
  readonly parentId: string | undefined;
  /** The session of its process; frames of other sites run in other processes than the page. */
  readonly sessionId: string;
  readonly loaderId: string;
  readonly url: string;
  /** Whether its session has reported its document by an event. */
  readonly isReported: boolean;
  /** The URL that could not be loaded if the browser shows its error page. */
  readonly unreachableUrl: string | undefined;
  /** For the tool's scripts. */
  readonly toolContext: ScriptContext | undefined;
  /** For the page's scripts. */
  readonly mainContext: ScriptContext | undefined;
}

/** An execution context. The next document may reuse its id, but not its unique id. */
export interface ScriptContext {
  readonly id: number;
  readonly uniqueId: string;
}

/** The frame in protocol messages. */
interface ProtocolFrame {
  readonly id: string;
  readonly parentId?: string | undefined;
  readonly loaderId: string;
  readonly url: string;
  readonly urlFragment?: string | undefined;
  readonly unreachableUrl?: string | undefined;
}

interface ProtocolFrameTree {
  readonly frame: ProtocolFrame;
  readonly childFrames?: readonly ProtocolFrameTree[] | undefined;
}

/** The frames of one page, kept up to date by events. */
export interface FrameTree {
  find(id: string): Frame | undefined;
  children(id: string): readonly Frame[];
  /** Sets the initial frames of a session. */
  seed(tree: ProtocolFrameTree, sessionId: string): void;
  /** A frame moved to the process of this session. */
  move(id: string, sessionId: string): void;
  handle(event: CdpEvent): void;
}

/** Differs for every document of a frame. */
export const documentIdOf = (frame: Frame): string => `${frame.id}/${frame.loaderId}`;

/** What the address bar would show. */
export const shownUrl = (frame: Frame): string => frame.unreachableUrl ?? frame.url;

/** A tree without frames. */
export function createFrameTree(): FrameTree {
  const frames = new Map<string, Frame>();

  function change(id: string, changes: Partial<Frame>): void {
    const frame = frames.get(id);
    if (frame !== undefined) frames.set(id, { ...frame, ...changes });
  }

  function remove(id: string): void {
    frames.delete(id);
    for (const frame of frames.values()) if (frame.parentId === id) remove(frame.id);
  }

  function navigated(frame: ProtocolFrame, sessionId: string, isReported: boolean): void {
    const before = frames.get(frame.id);
    const isSame = before?.loaderId === frame.loaderId && before.sessionId === sessionId;
    frames.set(frame.id, {
      id: frame.id,
      parentId: frame.parentId ?? before?.parentId,
      sessionId,
      loaderId: frame.loaderId,
      url: frame.url + (frame.urlFragment ?? ''),
      isReported,
      unreachableUrl: frame.unreachableUrl,
      // Contexts of the new document may be created before this event; those of the old one are destroyed by their own event.
      toolContext: isSame || before?.sessionId === sessionId ? before?.toolContext : undefined,
      mainContext: isSame || before?.sessionId === sessionId ? before?.mainContext : undefined,
    });
  }

  function forgetContexts(
    matches: (frame: Frame, context: ScriptContext | undefined) => boolean,
  ): void {
    for (const frame of frames.values()) {
      if (matches(frame, frame.toolContext)) change(frame.id, { toolContext: undefined });
      if (matches(frame, frame.mainContext)) change(frame.id, { mainContext: undefined });
    }
  }

  const tree: FrameTree = {
    find: (id) => frames.get(id),
    children: (id) => [...frames.values()].filter((frame) => frame.parentId === id),
    seed({ frame, childFrames = [] }, sessionId) {
      // The list of frames may arrive after a newer document was reported.
      const known = frames.get(frame.id);
      if (known?.isReported === true && known.sessionId === sessionId) return;
      navigated(frame, sessionId, false);
      for (const child of childFrames) tree.seed(child, sessionId);
    },
    move: (id, sessionId) =>
      change(id, {
        sessionId,
        isReported: false,
        toolContext: undefined,
        mainContext: undefined,
      }),
    handle(event) {
      const sessionId = event.sessionId ?? '';
      switch (event.method) {
        case 'Page.frameAttached':
          if (!frames.has(event.params.frameId)) {
            const { frameId, parentFrameId } = event.params;
            frames.set(frameId, newFrame(frameId, parentFrameId, sessionId));
          }
          break;
        case 'Page.frameNavigated':
          // The frames of the previous document were removed with it.
          for (const child of tree.children(event.params.frame.id)) remove(child.id);
          navigated(event.params.frame, sessionId, true);
          break;
        case 'Page.navigatedWithinDocument':
          change(event.params.frameId, { url: event.params.url });
          break;
        case 'Page.frameDetached':
          if (event.params.reason === 'remove') remove(event.params.frameId);
          break;
        case 'Runtime.executionContextCreated': {
          const { id, uniqueId, name } = event.params.context;
          const { frameId, isDefault } = (event.params.context.auxData ?? {}) as {
            frameId?: string;
            isDefault?: boolean;
          };
          if (frameId === undefined) break;
          // A session reports its contexts before its frames.
          if (!frames.has(frameId)) frames.set(frameId, newFrame(frameId, undefined, sessionId));
          if (isDefault === true) change(frameId, { mainContext: { id, uniqueId } });
          else if (name === SCRIPTS_WORLD) change(frameId, { toolContext: { id, uniqueId } });
          break;
        }
        case 'Runtime.executionContextDestroyed': {
          const destroyed = event.params.executionContextUniqueId;
          forgetContexts((_, context) => context?.uniqueId === destroyed);
          break;
        }
        case 'Runtime.executionContextsCleared':
          forgetContexts((frame) => frame.sessionId === sessionId);
          break;
        default:
      }
    },
  };
  return tree;
}

function newFrame(id: string, parentId: string | undefined, sessionId: string): Frame {
  return {
    id,
    parentId,
    sessionId,
    loaderId: '',
    url: '',
    isReported: false,
    unreachableUrl: undefined,
    toolContext: undefined,
    mainContext: undefined,
  };
}
