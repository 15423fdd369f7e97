import { createDeferred } from '@model-gateway/kernel';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import type { CallNotes, DialogAnswer, DialogReport, Viewport } from '../../engine.ts';
import type { Captures } from '../../capture/captures.ts';
import { injectedSource } from '../../injected-source.ts';
import { ToolError } from '../../errors.ts';
import { createChanges, type Changes } from '../changes.ts';
import { createConsoleCapture } from '../capture/console-capture.ts';
import { createConsoleThrottle } from '../capture/console-throttle.ts';
import { CdpError, type CdpEvent, type CdpConnection } from '../cdp-connection.ts';
import { SCRIPTS_WORLD, createFrameTree, shownUrl, type Frame, type FrameTree } from './frames.ts';
import { createLoading, type Loading } from '../navigation/loading.ts';
import { createNetworkCapture } from '../capture/network-capture.ts';
import { createRequestsInFlight, type RequestsInFlight } from '../capture/requests-in-flight.ts';

/** The global variable of the tool's scripts in their isolated world. */
export const SCRIPTS_NAME = 'browserTool';

type Commands = ProtocolMapping.Commands;

/** A tab that a script opens. */
export interface WindowOpening {
  readonly url: string;
  /** Whether the user, or a command of the tool, has just acted on the page. */
  readonly userGesture: boolean;
}

/** What a page needs from its browser. */
export interface PageEnvironment {
  readonly captures: Captures;
  /** The notes of the running call, or of the next one. */
  notes(): CallNotes;
  dialogAnswer(): {
    readonly answer: DialogAnswer | undefined;
    readonly promptText: string | undefined;
  };
  viewport(): Viewport;
  metrics(): Commands['Emulation.setDeviceMetricsOverride']['paramsType'][0];
  /** Applies the rules about what pages may load to a session. */
  enableRequestRules(sessionId: string): Promise<unknown>;
  isActive(page: Page): boolean;
  /** A script of a page is about to open a tab. */
  onWindowOpen(opening: WindowOpening): void;
}

/** One tab. */
export interface Page {
  readonly targetId: string;
  readonly sessionId: string;
  readonly frames: FrameTree;
  readonly loading: Loading;
  readonly requests: RequestsInFlight;
  readonly changes: Changes;
  /** Settles once the tab accepts commands; rejects if it closes before. */
  readonly ready: Promise<void>;
  readonly isCrashed: boolean;
  readonly hasEnded: boolean;
  /** Settles when the tab crashed or was closed. */
  readonly ended: Promise<'crashed' | 'closed'>;
  readonly main: Frame;
  send<Method extends keyof Commands>(
    method: Method,
    params?: Commands[Method]['paramsType'][0],
    sessionId?: string,
  ): Promise<Commands[Method]['returnType']>;
  owns(sessionId: string): boolean;
  handle(event: CdpEvent): void;
  end(how: 'crashed' | 'closed'): void;
  /** The response of a captured request, by the id of its entry. */
  sourceOf(entryId: string): { readonly requestId: string; readonly sessionId: string } | undefined;
}

const POST_DATA_BYTES_MAX = 64 * 1024;
const DIALOGS_MAX = 100;
const DIALOG_CHARS_MAX = 2_000;

/** Sets up a tab that was just attached. */
export function createPage(
  connection: CdpConnection,
  environment: PageEnvironment,
  targetId: string,
  sessionId: string,
): Page {
  const frames = createFrameTree();
  // The main frame of a page has the id of its target.
  const loading = createLoading(targetId);
  const requests = createRequestsInFlight();
  const changes = createChanges();
  const network = createNetworkCapture(environment.captures);
  const console = createConsoleCapture(environment.captures);
  const throttle = createConsoleThrottle(connection);
  // By session id, the target id of its frame or worker.
  const sessions = new Map([[sessionId, targetId]]);
  // The browser does not answer all commands of a tab that is closed, such as a press of a mouse button.
  const unanswered = new Set<(error: CdpError) => void>();
  let ending: 'crashed' | 'closed' | undefined;
  const { promise: ended, resolve: resolveEnded } = createDeferred<'crashed' | 'closed'>();

  const page: Page = {
    targetId,
    sessionId,
    frames,
    loading,
    requests,
    changes,
    ended,
    ready: Promise.race([prepare(sessionId, 'page'), crashed()]),
    get isCrashed() {
      return ending === 'crashed';
    },
    get hasEnded() {
      return ending !== undefined;
    },
    get main() {
      return frames.find(targetId) ?? blankFrame(targetId, sessionId);
    },
    send: (method, params, session = sessionId) =>
      new Promise((resolve, reject) => {
        unanswered.add(reject);
        void connection
          .send(method, params, session)
          .then(resolve, reject)
          .finally(() => unanswered.delete(reject));
      }),
    owns: (session) => sessions.has(session),
    sourceOf: (entryId) => network.sourceOf(entryId),
    handle,
    end(how) {
      if (ending !== undefined) return;
      ending = how;
      throttle.stop();
      network.closeSockets();
      resolveEnded(how);
      if (how === 'closed') for (const reject of unanswered) reject(new CdpError('Target closed'));
      changes.emit();
    },
  };
  return page;

  /** Rejects when the tab crashes: then the commands that prepare it are never answered. */
  async function crashed(): Promise<never> {
    if ((await ended) === 'closed') return new Promise<never>(() => undefined);
    throw new ToolError('BROWSER_CRASHED', 'A new tab crashed before it was ready.', {
      hint: 'Call again: a new tab is opened.',
    });
  }

  async function prepare(session: string, type: string): Promise<void> {
    const send: Page['send'] = (method, params) => connection.send(method, params, session);
    const isWorker = type !== 'page' && type !== 'iframe';
    const steps: Promise<unknown>[] = [
      send('Runtime.enable'),
      send('Network.enable', { maxPostDataSize: POST_DATA_BYTES_MAX }),
      send('Log.enable').catch(() => undefined),
      send('Target.setAutoAttach', {
        autoAttach: true,
        waitForDebuggerOnStart: true,
        flatten: true,
      }).catch(() => undefined),
    ];
    if (!isWorker) steps.push(...prepareDocument(send, session, type === 'page'));
    if (!isWorker) steps.push(environment.enableRequestRules(session));
    steps.push(send('Runtime.runIfWaitingForDebugger'));
    await Promise.all(steps);
  }

  function prepareDocument(
    send: Page['send'],
    session: string,
    isPage: boolean,
  ): Promise<unknown>[] {
    const seed = async (): Promise<void> => {
      const { frameTree } = await send('Page.getFrameTree');
      frames.seed(frameTree, session);
      if (isPage) loading.seed(frameTree.frame.loaderId);
      changes.emit();
    };
    return [
      send('Page.enable'),
      seed(),
      send('Page.setLifecycleEventsEnabled', { enabled: true }),
      send('Page.addScriptToEvaluateOnNewDocument', {
        source: `globalThis.${SCRIPTS_NAME} ??= ${injectedSource}; ${SCRIPTS_NAME}.listenForPresses();`,
        worldName: SCRIPTS_WORLD,
        runImmediately: true,
      }),
      ...(isPage
        ? [
            send('Emulation.setDeviceMetricsOverride', environment.metrics()),
            send('Emulation.setFocusEmulationEnabled', { enabled: true }),
          ]
        : []),
    ];
  }

  function handle(event: CdpEvent): void {
    if (throttle.isRepeated(event)) return;
    if (event.method === 'Runtime.consoleAPICalled') {
      // Nothing else uses these events, and there may be very many.
      console.handle(event, shownUrl(page.main));
      return;
    }
    frames.handle(event);
    requests.handle(event);
    network.handle(event);
    console.handle(event, shownUrl(page.main));
    if (event.sessionId === sessionId) loading.handle(event);
    switch (event.method) {
      case 'Target.attachedToTarget':
        attach(event.params.sessionId, event.params.targetInfo);
        break;
      case 'Target.detachedFromTarget':
        sessions.delete(event.params.sessionId);
        network.closeSockets(event.params.sessionId);
        break;
      case 'Page.windowOpen':
        environment.onWindowOpen(event.params);
        break;
      case 'Page.javascriptDialogOpening':
        answerDialog(event.params, event.sessionId);
        break;
      case 'Inspector.targetCrashed':
        if (event.sessionId === sessionId) page.end('crashed');
        break;
      case 'Page.frameNavigated':
        if (sessions.get(event.sessionId ?? '') === event.params.frame.id)
          network.closeSockets(event.sessionId);
        if (event.params.frame.id === targetId && environment.isActive(page)) {
          environment.captures.navigated(
            event.params.frame.unreachableUrl ?? event.params.frame.url,
          );
        }
        break;
      default:
    }
    changes.emit();
  }

  function attach(
    child: string,
    target: { readonly type: string; readonly targetId: string },
  ): void {
    sessions.set(child, target.targetId);
    console.addSession(child, target.type);
    if (target.type === 'iframe') frames.move(target.targetId, child);
    // It may end while it is prepared.
    prepare(child, target.type).catch(() => undefined);
  }

  function answerDialog(
    {
      type,
      message,
      defaultPrompt,
    }: {
      readonly type: string;
      readonly message: string;
      readonly defaultPrompt?: string | undefined;
    },
    session: string | undefined,
  ): void {
    const { answer, promptText } = environment.dialogAnswer();
    const accept =
      answer === undefined ? type === 'alert' || type === 'beforeunload' : answer === 'accept';
    const report: DialogReport = {
      type: type as DialogReport['type'],
      message: message.slice(0, DIALOG_CHARS_MAX),
      action: accept ? 'accepted' : 'dismissed',
    };
    const { dialogs } = environment.notes();
    // A page may open dialogs without limit between calls.
    if (dialogs.length < DIALOGS_MAX) dialogs.push(report);
    environment.captures.events.publish('dialog', report);
    const text = promptText ?? defaultPrompt;
    void connection
      .send(
        'Page.handleJavaScriptDialog',
        { accept, ...(accept && text !== undefined ? { promptText: text } : {}) },
        session,
      )
      .catch(() => undefined);
  }
}

function blankFrame(id: string, sessionId: string): Frame {
  return {
    id,
    parentId: undefined,
    sessionId,
    loaderId: '',
    url: 'about:blank',
    isReported: false,
    unreachableUrl: undefined,
    toolContext: undefined,
    mainContext: undefined,
  };
}
