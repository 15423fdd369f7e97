/** Something with a time limit. */
export interface Bounded {
  onTimeout(): void;
}

/** One timer for all calls with the same time limit: a timer per call costs too much. */
export interface Deadlines {
  add(call: Bounded): Deadline;
  remove(deadline: Deadline): void;
}

/** The entry of a call. */
export interface Deadline {
  readonly at: number;
}

class Link implements Deadline {
  readonly call: Bounded | undefined;
  readonly at: number;
  previous: Link = this;
  next: Link = this;

  constructor(call: Bounded | undefined, at: number) {
    this.call = call;
    this.at = at;
  }
}

/**
 * A linked ring in the order in which the calls began, which is the order of their timeouts. Not a Map: when a Map grows, its
 * old table points to the new one, and its entries outlive dozens of garbage collections.
 */
export function createDeadlines(timeoutMs: number): Deadlines {
  const ring = new Link(undefined, 0);
  let timer: NodeJS.Timeout | undefined;

  function timeOut(): void {
    timer = undefined;
    const now = performance.now();
    for (let first = ring.next; first !== ring; first = ring.next) {
      const leftMs = first.at - now;
      if (leftMs > 0) {
        arm(leftMs);
        return;
      }
      takeOut(first);
      first.call?.onTimeout();
    }
  }

  /** It stays for the next call when its call is over; the socket of a call keeps the process alive. */
  function arm(afterMs: number): void {
    // If this process was stalled, a response may have arrived; it is read before the timeout.
    timer = setTimeout(() => setImmediate(timeOut), afterMs).unref();
  }

  return {
    add(call) {
      const link = new Link(call, performance.now() + timeoutMs);
      const last = ring.previous;
      link.previous = last;
      link.next = ring;
      last.next = link;
      ring.previous = link;
      if (timer === undefined) arm(timeoutMs);
      return link;
    },
    remove(deadline) {
      if (deadline instanceof Link) takeOut(deadline);
    },
  };
}

/** A removed link points to no other: it would keep younger links in memory. */
function takeOut(link: Link): void {
  link.previous.next = link.next;
  link.next.previous = link.previous;
  link.previous = link;
  link.next = link;
}
