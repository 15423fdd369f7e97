import { ServiceError } from '@model-gateway/contracts';
import { createRealtimeObserver, type OpenRealtime } from '@model-gateway/inference';
import type { RealtimeEvent, RealtimeOpening } from '@model-gateway/router';
import type { Forwarder } from './forwarder.ts';
import type { SessionBooks } from './session-books.ts';

/** One realtime session that this process holds. */
export interface LiveSession {
  /** What the upstream tells. */
  readonly listener: Pick<RealtimeOpening, 'onEvent' | 'onClosed'>;
  /** Gives it its upstream; false when that is gone already. */
  attach(upstream: OpenRealtime, books: SessionBooks): boolean;
  /** Queues an event for the upstream; false when too much waits for it already. */
  send(event: RealtimeEvent): boolean;
  /** The upstream is told to stop, what was said is kept and passed on. Twice is the same as once. */
  end(reason: string): void;
  /** Resolves when an ended session has nothing left to do. */
  settled(): Promise<void>;
}

interface LiveSessionOptions {
  readonly refId: string | null;
  readonly forwarder: Forwarder;
  /** The text of the notification that carries an event. */
  readonly notificationOf: (eventText: string) => string;
  /** Asked after each response that took something; refuses with a ServiceError. */
  readonly assertCovered: () => Promise<void>;
  /** Told once. */
  readonly onEnded: (reason: string) => void;
  readonly idleMs?: number;
  readonly lifetimeMs?: number;
}

interface Attached {
  readonly upstream: OpenRealtime;
  readonly books: SessionBooks;
}

/** Without a word from either side. */
const IDLE_MS = 15 * 60_000;
const LIFETIME_MS = 6 * 60 * 60_000;

export function createLiveSession(options: LiveSessionOptions): LiveSession {
  const { refId, forwarder, notificationOf, assertCovered, onEnded } = options;
  const observer = createRealtimeObserver({ refId });
  let attached: Attached | undefined;
  let isEnded = false;

  function end(reason: string): void {
    if (isEnded) return;
    isEnded = true;
    clearTimeout(idle);
    clearTimeout(lifetime);
    if (attached !== undefined) release(attached);
    onEnded(reason);
  }
  function release({ upstream, books }: Attached): void {
    upstream.link.close();
    // The breaker was told when the session opened; now the backend is not needed any more.
    void upstream.route.settle('neutral');
    for (const transcript of observer.takeUnfinished()) books.keep(transcript);
  }
  const idle = timer(options.idleMs ?? IDLE_MS, () => end('nothing was said for too long'));
  const lifetime = timer(options.lifetimeMs ?? LIFETIME_MS, () => end('it was open for too long'));

  /** A user who has nothing left in mid-session gets no further response. */
  async function endUnlessCovered(): Promise<void> {
    try {
      await assertCovered();
    } catch (error) {
      if (error instanceof ServiceError) end(error.message);
    }
  }

  /** Resolves when what the event means for us is written down: only then the client may know. */
  function observe(event: RealtimeEvent): Promise<void> | undefined {
    const response = observer.observe(event);
    if (response === undefined || attached === undefined) return undefined;
    const entered = attached.books.enter(response);
    if (response.usage !== undefined) void entered.then(endUnlessCovered);
    return entered;
  }

  return {
    listener: {
      onEvent({ event, text }) {
        if (isEnded) return;
        idle.refresh();
        const isTaken = forwarder.add(notificationOf(text), observe(event));
        if (!isTaken) end('its events were taken too slowly');
      },
      onClosed: (failure) => end(failure.message),
    },
    attach(upstream, books) {
      attached = { upstream, books };
      if (isEnded) release(attached);
      return !isEnded;
    },
    send(event) {
      idle.refresh();
      return attached?.upstream.link.send(event) ?? false;
    },
    end,
    async settled() {
      await forwarder.flushed();
      await attached?.books.settled();
    },
  };
}

function timer(milliseconds: number, onDue: () => void): NodeJS.Timeout {
  return setTimeout(onDue, milliseconds).unref();
}
