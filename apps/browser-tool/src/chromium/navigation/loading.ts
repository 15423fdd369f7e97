import { LRUCache } from 'lru-cache';
import { clipText } from '../../capture/clip-text.ts';
import type { CdpEvent } from '../cdp-connection.ts';

const STATUS_CHARS_MAX = 200;

/** The HTTP response of a document. */
export interface DocumentResponse {
  readonly status: number;
  readonly statusText: string;
}

/** The loading state of a page's main frame, kept up to date by events. */
export interface Loading {
  /** How many navigations started, including those within the document. */
  readonly started: number;
  /** Whether a navigation has started but not shown its document yet. */
  readonly isNavigating: boolean;
  /** The URL of that navigation. */
  readonly pendingUrl: string | undefined;
  /** The document that the last navigation to another document was for. */
  readonly startedLoader: string;
  /** The current document. */
  readonly loaderId: string;
  /** How often another document, or another fragment of the same one, was shown. */
  readonly shown: number;
  /** Whether the current document reached `DOMContentLoaded`, `load` or `networkIdle`. */
  reached(milestone: string): boolean;
  /** Whether the current document has its content: it was read to the end, or broke off. */
  readonly hasContent: boolean;
  /** Whether nothing more comes: the current document has loaded, or broke off. */
  readonly hasLoaded: boolean;
  /** The network error that the current document broke off with. */
  readonly loadError: string | undefined;
  responseOf(loaderId: string): DocumentResponse | undefined;
  /** The last URL that the server redirected it to. */
  redirectOf(loaderId: string): string | undefined;
  failureOf(loaderId: string): string | undefined;
  /** Sets the initial document. */
  seed(loaderId: string): void;
  /** The current navigation was stopped. */
  markStopped(): void;
  handle(event: CdpEvent): void;
}

const REMEMBERED = { max: 50 };

/** Tracks the frame with this id. */
export function createLoading(frameId: string): Loading {
  let started = 0;
  let shown = 0;
  let loaderId = '';
  let startedLoader = '';
  let navigatingTo: string | undefined;
  let pendingUrl = '';
  // Also without milestones: the connection broke off, or the page stopped its own loading.
  let isStopped = false;
  // Events may arrive before the document is shown.
  const milestones = new LRUCache<string, ReadonlySet<string>>(REMEMBERED);
  const responses = new LRUCache<string, DocumentResponse>(REMEMBERED);
  const redirects = new LRUCache<string, string>(REMEMBERED);
  const failures = new LRUCache<string, string>(REMEMBERED);

  function show(next: string): void {
    shown += 1;
    navigatingTo = undefined;
    isStopped = false;
    loaderId = next;
  }

  function onPage(event: CdpEvent): void {
    switch (event.method) {
      case 'Page.frameStartedNavigating':
        if (event.params.frameId !== frameId) break;
        started += 1;
        if (!/sameDocument/i.test(event.params.navigationType)) {
          navigatingTo = event.params.loaderId;
          startedLoader = event.params.loaderId;
          pendingUrl = event.params.url;
        }
        break;
      case 'Page.frameNavigated':
        if (event.params.frame.id !== frameId) break;
        show(event.params.frame.loaderId);
        break;
      case 'Page.navigatedWithinDocument':
        if (event.params.frameId === frameId) shown += 1;
        break;
      case 'Page.frameStartedLoading':
        if (event.params.frameId === frameId) isStopped = false;
        break;
      case 'Page.frameStoppedLoading':
        if (event.params.frameId !== frameId) break;
        navigatingTo = undefined;
        isStopped = true;
        break;
      case 'Page.lifecycleEvent': {
        const { frameId: id, loaderId: loader, name } = event.params;
        if (id !== frameId) break;
        milestones.set(loader, new Set([...(milestones.get(loader) ?? []), name]));
        break;
      }
      default:
    }
  }

  function onNetwork(event: CdpEvent): void {
    switch (event.method) {
      case 'Network.requestWillBeSent':
        if (event.params.type === 'Document' && event.params.redirectResponse !== undefined) {
          redirects.set(event.params.requestId, event.params.request.url);
        }
        break;
      case 'Network.responseReceived':
        if (event.params.type !== 'Document' || event.params.frameId !== frameId) break;
        responses.set(event.params.requestId, {
          status: event.params.response.status,
          statusText: clipText(event.params.response.statusText, STATUS_CHARS_MAX),
        });
        break;
      case 'Network.loadingFailed':
        if (event.params.type !== 'Document') break;
        failures.set(event.params.requestId, event.params.errorText);
        // After other failures the browser navigates to its error page.
        if (event.params.canceled === true && navigatingTo === event.params.requestId)
          navigatingTo = undefined;
        break;
      default:
    }
  }

  const reached = (milestone: string): boolean => milestones.get(loaderId)?.has(milestone) === true;

  return {
    get started() {
      return started;
    },
    get shown() {
      return shown;
    },
    get isNavigating() {
      return navigatingTo !== undefined;
    },
    get pendingUrl() {
      return navigatingTo === undefined ? undefined : pendingUrl;
    },
    get startedLoader() {
      return startedLoader;
    },
    get loaderId() {
      return loaderId;
    },
    reached,
    get hasContent() {
      return isStopped || reached('DOMContentLoaded');
    },
    get hasLoaded() {
      return isStopped || reached('load');
    },
    get loadError() {
      return isStopped && !reached('load') ? failures.get(loaderId) : undefined;
    },
    responseOf: (loader) => responses.get(loader),
    redirectOf: (loader) => redirects.get(loader),
    failureOf: (loader) => failures.get(loader),
    seed(loader) {
      if (loaderId === '') loaderId = loader;
    },
    markStopped() {
      navigatingTo = undefined;
    },
    handle(event) {
      if (event.method.startsWith('Page.')) onPage(event);
      else if (event.method.startsWith('Network.')) onNetwork(event);
    },
  };
}
