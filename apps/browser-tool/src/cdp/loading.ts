import type { CdpEvent } from './connection.ts';

/** The answer that a document came with. */
export interface DocumentAnswer {
  readonly status: number;
  readonly statusText: string;
}

/** How far the main frame of a page is with loading, kept up to date by events. */
export interface Loading {
  /** How many navigations began, those within the document included. */
  readonly started: number;
  /** Whether a navigation is under way that did not show its document yet. */
  readonly isUnderWay: boolean;
  /** Where that navigation leads. */
  readonly goingTo: string | undefined;
  /** The document that is shown. */
  readonly loaderId: string;
  /** How often another document, or another place in the same one, was shown. */
  readonly shown: number;
  /** Whether the document that is shown got so far, as in `DOMContentLoaded`, `load` and `networkIdle`. */
  reached(milestone: string): boolean;
  answerOf(loaderId: string): DocumentAnswer | undefined;
  /** Where its server sent it on to in the end. */
  redirectOf(loaderId: string): string | undefined;
  failureOf(loaderId: string): string | undefined;
  /** Takes over which document is shown at the start. */
  seed(loaderId: string): void;
  /** The navigation that is under way was stopped. */
  giveUp(): void;
  handle(event: CdpEvent): void;
}

const REMEMBERED_MAX = 50;

/** Watches the frame with this id. */
export function createLoading(frameId: string): Loading {
  let started = 0;
  let shown = 0;
  let loaderId = '';
  let underWay: string | undefined;
  let goingTo = '';
  // Told for the document that is about to be shown too.
  const milestones = new Map<string, ReadonlySet<string>>();
  const answers = new Map<string, DocumentAnswer>();
  const redirects = new Map<string, string>();
  const failures = new Map<string, string>();

  function show(next: string): void {
    shown += 1;
    underWay = undefined;
    loaderId = next;
  }

  function onPage(event: CdpEvent): void {
    switch (event.method) {
      case 'Page.frameStartedNavigating':
        if (event.params.frameId !== frameId) break;
        started += 1;
        if (!/sameDocument/i.test(event.params.navigationType)) {
          underWay = event.params.loaderId;
          goingTo = event.params.url;
        }
        break;
      case 'Page.frameNavigated':
        if (event.params.frame.id !== frameId) break;
        show(event.params.frame.loaderId);
        break;
      case 'Page.navigatedWithinDocument':
        if (event.params.frameId === frameId) shown += 1;
        break;
      case 'Page.frameStoppedLoading':
        if (event.params.frameId === frameId) underWay = undefined;
        break;
      case 'Page.lifecycleEvent': {
        const { frameId: id, loaderId: loader, name } = event.params;
        if (id !== frameId) break;
        remember(milestones, loader, new Set([...(milestones.get(loader) ?? []), name]));
        break;
      }
      default:
    }
  }

  function onNetwork(event: CdpEvent): void {
    switch (event.method) {
      case 'Network.requestWillBeSent':
        if (event.params.type === 'Document' && event.params.redirectResponse !== undefined) {
          remember(redirects, event.params.requestId, event.params.request.url);
        }
        break;
      case 'Network.responseReceived':
        if (event.params.type !== 'Document' || event.params.frameId !== frameId) break;
        remember(answers, event.params.requestId, event.params.response);
        break;
      case 'Network.loadingFailed':
        if (event.params.type !== 'Document') break;
        remember(failures, event.params.requestId, event.params.errorText);
        // After other failures the browser goes on to a page of its own that says so.
        if (event.params.canceled === true && underWay === event.params.requestId)
          underWay = undefined;
        break;
      default:
    }
  }

  return {
    get started() {
      return started;
    },
    get shown() {
      return shown;
    },
    get isUnderWay() {
      return underWay !== undefined;
    },
    get goingTo() {
      return underWay === undefined ? undefined : goingTo;
    },
    get loaderId() {
      return loaderId;
    },
    reached: (milestone) => milestones.get(loaderId)?.has(milestone) === true,
    answerOf: (loader) => answers.get(loader),
    redirectOf: (loader) => redirects.get(loader),
    failureOf: (loader) => failures.get(loader),
    seed(loader) {
      if (loaderId === '') loaderId = loader;
    },
    giveUp() {
      underWay = undefined;
    },
    handle(event) {
      if (event.method.startsWith('Page.')) onPage(event);
      else if (event.method.startsWith('Network.')) onNetwork(event);
    },
  };
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value): void {
  known.set(key, value);
  const [oldest] = known.keys();
  if (known.size > REMEMBERED_MAX && oldest !== undefined) known.delete(oldest);
}
