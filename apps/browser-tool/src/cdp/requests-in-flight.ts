import type { CdpEvent } from './cdp-connection.ts';

/** The `fetch` and XHR calls of a page that have no answer yet. */
export interface RequestsInFlight {
  /** The number that the next one gets; calls that are older than an action are not waited for after it. */
  readonly next: number;
  /** How many of those from this number on are without an answer. */
  countFrom(number: number): number;
  handle(event: CdpEvent): void;
}

/** None are under way yet. */
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
