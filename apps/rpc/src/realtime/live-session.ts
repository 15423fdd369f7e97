import {
  createRealtimeObserver,
  type EndedResponse,
  type ExpectedUsage,
  type OpenRealtime,
} from '@model-gateway/inference';
import type { RealtimeEvent, RealtimeOpening } from '@model-gateway/router';
import type { Forwarder } from './forwarder.ts';
import { endEvent, refusalEvent, type SessionEnd } from './last-event.ts';
import type { ResponseReservations } from './response-reservations.ts';
import type { SessionRecorder } from './session-recorder.ts';

/** One realtime session of this process. */
export interface LiveSession {
  /** Receives the events of the upstream. */
  readonly listener: Pick<RealtimeOpening, 'onEvent' | 'onClosed'>;
  /** Sets the upstream; false when it has already closed. */
  attach(upstream: OpenRealtime, recorder: SessionRecorder): boolean;
  /** Queues an event for the upstream; false when the queue is full. */
  send(event: RealtimeEvent): boolean;
  /**
   * Closes the upstream; received events are still recorded and forwarded, and after them the client gets the reason, unless it
   * knows. Calling it twice is harmless.
   */
  end(reason: string, why?: SessionEnd): void;
  /** Sends the waiting events although no listener has subscribed yet. */
  skipListenerWait(): void;
  /** Resolves when an ended session has finished its remaining work. */
  settled(): Promise<void>;
}

interface LiveSessionOptions {
  readonly refId: string | null;
  /** The settings with which the session is opened at the upstream. */
  readonly config?: RealtimeEvent | undefined;
  readonly forwarder: Forwarder;
  /** The text of the notification for an event. */
  readonly notificationOf: (eventText: string) => string;
  readonly reservations: ResponseReservations;
  /** Called once. */
  readonly onEnded: (reason: string) => void;
  readonly idleMs?: number;
  readonly lifetimeMs?: number;
}

interface Attached {
  readonly upstream: OpenRealtime;
  readonly recorder: SessionRecorder;
}

/** A session ends after this time without an event from either side. */
const IDLE_MS = 15 * 60_000;
const LIFETIME_MS = 6 * 60 * 60_000;

export function createLiveSession(options: LiveSessionOptions): LiveSession {
  const { refId, forwarder, notificationOf, reservations, onEnded } = options;
  const observer = createRealtimeObserver({ refId });
  observer.sent({ type: 'session.update', session: options.config });
  let attached: Attached | undefined;
  let isEnded = false;
  /** Whether the upstream ended the session. */
  let isLost = false;

  function end(reason: string, why?: SessionEnd): void {
    if (isEnded) return;
    isEnded = true;
    if (why !== undefined) forwarder.add(notificationOf(endEvent(why)));
    clearTimeout(idle);
    clearTimeout(lifetime);
    if (attached !== undefined) release(attached);
    reservations.endAll();
    onEnded(reason);
  }
  function release({ upstream, recorder }: Attached): void {
    upstream.link.close();
    // The circuit breaker was updated when the session opened. The upstream notices a moment later that it was closed.
    void upstream.lease.settle('left');
    // The upstream has worked on these, whichever side ended the session.
    for (const response of observer.takeUnfinished({ isLost }))
      void recorder.record(response, reservations.take());
  }
  const idle = timer(options.idleMs ?? IDLE_MS, () => end('idle for too long', 'expired'));
  const lifetime = timer(options.lifetimeMs ?? LIFETIME_MS, () =>
    end('open for too long', 'expired'),
  );

  /** Resolves when the response may be forwarded; to the message that replaces it if it is refused. */
  async function begin(expected: ExpectedUsage): Promise<string | undefined> {
    const refusal = await reservations.begin(expected);
    if (refusal === undefined) return undefined;
    end(refusal.message);
    return notificationOf(refusalEvent(refusal));
  }

  /** Meters the response, and ends the session when nothing is left for another one. */
  async function record({ recorder }: Attached, response: EndedResponse): Promise<undefined> {
    await recorder.record(response, reservations.take());
    if (response.usage !== undefined) void check();
  }

  async function check(): Promise<void> {
    const refusal = await reservations.check();
    if (refusal === undefined || isEnded) return;
    forwarder.add(notificationOf(refusalEvent(refusal)));
    end(refusal.message);
  }

  /** The event is forwarded to the client when its response is admitted or recorded. */
  function observe(event: RealtimeEvent): Promise<string | undefined> | undefined {
    const beginning = observer.isBeginning(event) ? begin(observer.expected()) : undefined;
    const response = observer.observe(event);
    if (response === undefined || attached === undefined) return beginning;
    return record(attached, response);
  }

  return {
    listener: {
      onEvent({ event, text }) {
        if (isEnded) return;
        idle.refresh();
        const isQueued = forwarder.add(notificationOf(text), observe(event));
        if (!isQueued) end('events were read too slowly');
      },
      onClosed(failure) {
        isLost = true;
        end(failure.message, 'upstream_gone');
      },
    },
    attach(upstream, recorder) {
      attached = { upstream, recorder };
      if (isEnded) release(attached);
      return !isEnded;
    },
    send(event) {
      idle.refresh();
      const isQueued = attached?.upstream.link.send(event) ?? false;
      if (isQueued) observer.sent(event);
      return isQueued;
    },
    end,
    skipListenerWait: () => forwarder.skipWait(),
    async settled() {
      await forwarder.flushed();
      await attached?.recorder.settled();
    },
  };
}

function timer(milliseconds: number, onDue: () => void): NodeJS.Timeout {
  return setTimeout(onDue, milliseconds).unref();
}
