import type { CdpEvent } from '../cdp-connection.ts';

/** The `fetch` and XHR calls of a page that have no response yet. */
export interface RequestsInFlight {
  /** The number of the next call. An action does not wait for calls from before it. */
  readonly next: number;
  /** How many calls from this number on have no response. */
  countFrom(number: number): number;
  handle(event: CdpEvent): void;
}

/** Starts without calls. */
export function createRequestsInFlight(): RequestsInFlight {
  const pending = new Map<string, number>();
  let next = 1;
  return {
    get next() {
      return next;
    },
    countFrom: (number) => [...pending.values()].filter((each) => each >= number).length,
    handle(event) {
      switch (event.method) {
        case 'Network.requestWillBeSent':
          if (event.params.type !== 'Fetch' && event.params.type !== 'XHR') break;
          if (!pending.has(event.params.requestId)) pending.set(event.params.requestId, next++);
          break;
        case 'Network.responseReceived':
        case 'Network.loadingFailed':
        case 'Network.loadingFinished':
          pending.delete(event.params.requestId);
          break;
        case 'Page.frameNavigated':
          if (event.params.frame.parentId === undefined) pending.clear();
          break;
        default:
      }
    },
  };
}
