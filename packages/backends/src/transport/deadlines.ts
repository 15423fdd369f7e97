/** Something that may take only so long. */
export interface Bounded {
  onTimeout(): void;
}

/**
 * Watches calls that may all take equally long with one timer: making one for each costs more than the call is worth.
 */
export interface Deadlines {
  add(call: Bounded): Deadline;
  remove(deadline: Deadline): void;
}

/** The place of a call among those that are watched. */
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
 * Links of a ring, in the order in which the calls began, which is the one in which they time out. Not a Map: each time that one
 * makes room, the table it had goes on pointing to the next one, and what was in it outlives dozens of garbage collections.
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

  /** It stays when its call is over, for the next one; what keeps the process alive is the socket of a call. */
  function arm(afterMs: number): void {
    timer = setTimeout(timeOut, afterMs).unref();
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

/** What is out points to nobody: an old one that is no longer needed would keep younger ones. */
function takeOut(link: Link): void {
  link.previous.next = link.next;
  link.next.previous = link.previous;
  link.previous = link;
  link.next = link;
}
