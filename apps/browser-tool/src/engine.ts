import type { Log } from '@model-gateway/kernel';
import type { Captures } from './capture/captures.ts';
import type {
  ClickRequest,
  DomRequest,
  EvaluateRequest,
  HistoryRequest,
  ImageFormat,
  NavigateRequest,
  PressRequest,
  ResizeRequest,
  ScreenshotRequest,
  ScrollRequest,
  SnapshotRequest,
  TypeRequest,
  WaitRequest,
} from './commands/params.ts';
import type { RefRegistry } from './session/ref-registry.ts';

export type DialogAnswer = 'accept' | 'dismiss';

/** A dialog that a page opened, and how it was answered. Dialogs never block. */
export interface DialogReport {
  readonly type: 'alert' | 'confirm' | 'prompt' | 'beforeunload';
  readonly message: string;
  readonly action: 'accepted' | 'dismissed';
}

/** A download that a page began. Downloads are denied. */
export interface DownloadReport {
  readonly url: string;
  readonly filename: string;
  readonly action: 'denied';
}

/** A tab that a page opened. It is the active page, unless it was closed at once because too many are open. */
export interface OpenedTab {
  readonly url: string;
  readonly closed?: true;
}

/** Side effects of a call; the engine adds them while the call runs. */
export interface CallNotes {
  readonly dialogs: DialogReport[];
  readonly downloads: DownloadReport[];
  /** Its URL is empty until the engine knows what the tab opens. */
  openedTab: OpenedTab | undefined;
}

/** One running call of the engine. */
export interface EngineCall {
  /** Aborted at the deadline, when the caller disconnects, and when the process ends. */
  readonly signal: AbortSignal;
  readonly notes: CallNotes;
  /** How dialogs are answered while this call runs; by default alerts are accepted and questions dismissed. */
  readonly dialog: DialogAnswer | undefined;
  readonly promptText: string | undefined;
  /** Whether its result does not include the notes; they are then reported with the next call. */
  readonly isSilent?: boolean;
}

/** The address of the active page. */
export interface PageAddress {
  readonly url: string;
  readonly title: string;
}

export interface ElementReport {
  readonly ref: string;
  readonly role: string;
  readonly name: string;
  readonly tag: string;
}

export type LoadState = 'complete' | 'interactive';

export interface NavigationOutcome extends PageAddress {
  /** The HTTP status of the document; null if there was none, as for `about:blank`. */
  readonly status: number | null;
  readonly statusText: string;
  readonly loadState: LoadState;
  /** The network error that the document broke off with. */
  readonly loadError?: string | undefined;
  readonly redirected: boolean;
}

export interface ActionOutcome extends PageAddress {
  readonly navigated: boolean;
  /** The HTTP status of the document that the action opened, if it opened one and there was a status. */
  readonly status?: number;
  readonly statusText?: string;
  /** The URL that the page is navigating to, whose server has not responded yet. */
  readonly pendingUrl?: string | undefined;
}

export interface ClickOutcome extends ActionOutcome {
  readonly target: ElementReport;
}

export interface TypeOutcome extends ClickOutcome {
  /** The value of the field now; bullets for a password. */
  readonly value: string;
}

export interface ScrollOutcome extends PageAddress {
  readonly scrollX: number;
  readonly scrollY: number;
}

export interface EvaluateOutcome {
  readonly result: unknown;
  readonly type: string;
  readonly truncated: boolean;
}

export interface ScreenshotOutcome {
  /** Base64. */
  readonly data: string;
  readonly mimeType: `image/${ImageFormat}`;
  readonly width: number;
  readonly height: number;
  readonly scale: number;
  readonly bytes: number;
  /** Whether the page or element is larger than what can be drawn. */
  readonly truncated: boolean;
}

export interface WaitOutcome {
  readonly found: boolean;
  readonly count: number;
}

export interface DomElement {
  readonly ref: string;
  readonly tag: string;
  readonly text: string;
  readonly html?: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The value of the requested attribute. */
  readonly value?: string | null;
  readonly visible: boolean;
  readonly rect: Rect;
  readonly computed?: Readonly<Record<string, string>>;
}

export interface DomOutcome {
  readonly count: number;
  readonly matches: readonly DomElement[];
  readonly truncated: boolean;
}

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface AccessibleNode {
  readonly role: string;
  readonly name: string;
  readonly description?: string;
  readonly value?: string;
  readonly states: readonly string[];
  readonly ref?: string;
  readonly tag?: string;
  readonly url?: string;
  readonly box?: readonly [x: number, y: number, width: number, height: number];
  readonly children: readonly AccessibleNode[];
}

export interface SnapshotOutcome extends PageAddress {
  readonly nodes: readonly AccessibleNode[];
  /** Whether the page has more nodes than the limit. */
  readonly truncated: boolean;
}

export type Viewport = readonly [width: number, height: number];

/** The body of a captured request or response, if the browser still has it. */
export interface ResponseBody {
  readonly body: string;
  readonly isBase64: boolean;
}

/** Whether a browser may run without its sandbox if the sandbox does not work. */
export type SandboxMode = 'auto' | 'required';

export interface EngineStatus {
  /** The version of the engine, such as `156.0.8078.79`. */
  readonly version: string;
  readonly pid: number | null;
  readonly sandbox: boolean;
  readonly viewport: Viewport;
  /** Whether the active tab crashed. */
  readonly isTabCrashed: boolean;
}

/**
 * The browser as commands see it. Calls are sequential. Every method fails with a `ToolError`; unsupported methods fail with
 * `NOT_SUPPORTED_BY_ENGINE`.
 */
export interface BrowserEngine {
  readonly protocol: 'cdp' | 'ffi';
  status(): EngineStatus;
  address(call: EngineCall): Promise<PageAddress>;
  navigate(request: NavigateRequest, call: EngineCall): Promise<NavigationOutcome>;
  /** Fails with `NO_HISTORY` if there is no such page. */
  traverse(
    direction: 'back' | 'forward' | 'reload',
    request: HistoryRequest,
    call: EngineCall,
  ): Promise<NavigationOutcome>;
  click(request: ClickRequest, call: EngineCall): Promise<ClickOutcome>;
  type(request: TypeRequest, call: EngineCall): Promise<TypeOutcome>;
  press(request: PressRequest, call: EngineCall): Promise<ActionOutcome>;
  scroll(request: ScrollRequest, call: EngineCall): Promise<ScrollOutcome>;
  evaluate(request: EvaluateRequest, call: EngineCall): Promise<EvaluateOutcome>;
  screenshot(request: ScreenshotRequest, call: EngineCall): Promise<ScreenshotOutcome>;
  waitFor(request: WaitRequest, call: EngineCall): Promise<WaitOutcome>;
  dom(request: DomRequest, call: EngineCall): Promise<DomOutcome>;
  snapshot(request: SnapshotRequest, call: EngineCall): Promise<SnapshotOutcome>;
  resize(request: ResizeRequest, call: EngineCall): Promise<Viewport>;
  /** The body of a captured request, by the id of its entry, if it was too large to be captured. */
  requestBody(id: string): Promise<ResponseBody | undefined>;
  /** The body of a captured response, by the id of its entry; undefined once the browser dropped it. */
  responseBody(id: string): Promise<ResponseBody | undefined>;
  /** Replaces the page if it no longer responds, and returns whether it did. */
  ensureResponsive(): Promise<boolean>;
  /** Ends the browser and removes its files. Idempotent. */
  close(): Promise<void>;
}

/** A method of the engine as a function that gets what it works on as its first parameter. */
export type EngineMethod<Name extends keyof BrowserEngine, On> = BrowserEngine[Name] extends (
  request: infer Request,
  call: EngineCall,
) => infer Outcome
  ? (on: On, request: Request, call: EngineCall) => Outcome
  : never;

/** The dependencies and options of an engine. */
export interface EngineContext {
  readonly captures: Captures;
  readonly refs: RefRegistry;
  readonly log: Log;
  readonly viewport: Viewport;
  /** The proxy for browser traffic as the caller wrote it, including credentials. */
  readonly proxy: string | undefined;
  /** The origins that pages may load; empty allows all. */
  readonly allowedOrigins: readonly string[];
  readonly sandbox: SandboxMode;
  /** How many tabs may be open; further ones are closed at once. */
  readonly tabsMax: number;
  readonly startUrl: string;
  /** Called once when the browser ends unexpectedly. */
  readonly onEnd: (reason: string) => void;
  /** Aborted when the process ends while the engine is still starting. */
  readonly signal: AbortSignal;
}
