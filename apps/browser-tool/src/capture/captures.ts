import type { Clock } from '@model-gateway/kernel';
import { createByteBudget } from './byte-budget.ts';
import { createConsoleLog, type ConsoleLog } from './console-log.ts';
import { createEventHub, type EventHub } from './event-hub.ts';
import { createNetworkLog, type NetworkLog } from './network-log.ts';
import { createWebSocketLog, type WebSocketLog } from './websocket-log.ts';

/** The newest console output, requests and WebSockets of a session. It survives a restart of the browser. */
export interface Captures {
  readonly console: ConsoleLog;
  readonly network: NetworkLog;
  readonly webSockets: WebSocketLog;
  readonly events: EventHub;
  /** The active page shows a new document: earlier console output belongs to an earlier page. */
  navigated(url: string): void;
}

const CAPTURED_BYTES_MAX = 32 * 1024 * 1024;

/** Starts with nothing captured. */
export function createCaptures(clock: Clock): Captures {
  let sequence = 0;
  const next = () => (sequence += 1);
  const events = createEventHub();
  const context = { next, clock, events, budget: createByteBudget(CAPTURED_BYTES_MAX) };
  const console = createConsoleLog(context);
  return {
    console,
    network: createNetworkLog(context),
    webSockets: createWebSocketLog(context),
    events,
    navigated(url) {
      console.startPage();
      events.publish('navigation', { url });
    },
  };
}
