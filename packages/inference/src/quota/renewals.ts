/** What a call needs to go on counting. */
export interface Renewable {
  /** Waits for nothing and never fails. */
  renew(): void;
}

/** Renews the calls of this process while they run: without that the admission store lets them expire. */
export interface Renewals {
  add(call: Renewable): Renewal;
  /** Can be repeated. */
  remove(renewal: Renewal): void;
  /** Renews all calls now, whatever their age. */
  renewAll(): void;
}

/** The entry of a call. */
export interface Renewal {
  readonly call: Renewable | undefined;
}

class Link implements Renewal {
  readonly call: Renewable | undefined;
  /** Whether it was there when the timer fired the last time. */
  isOld = false;
  previous: Link = this;
  next: Link = this;

  constructor(call: Renewable | undefined) {
    this.call = call;
  }
}

// A call is renewed at the latest after twice this time. The admission store keeps one for 15 minutes.
const RENEW_MS = 5 * 60_000;

/** There is a timer only while there are calls. They are a linked ring, and no Set, as in `deadlines.ts`. */
export function createRenewals(renewMs: number = RENEW_MS): Renewals {
  const ring = new Link(undefined);
  let timer: NodeJS.Timeout | undefined;

  function renewOld(): void {
    for (let link = ring.next; link !== ring;) {
      const { next } = link;
      if (link.isOld) link.call?.renew();
      link.isOld = true;
      link = next;
    }
    if (ring.next !== ring) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    add(call) {
      const link = new Link(call);
      link.previous = ring.previous;
      link.next = ring;
      ring.previous.next = link;
      ring.previous = link;
      timer ??= setInterval(renewOld, renewMs).unref();
      return link;
    },
    remove(renewal) {
      if (renewal instanceof Link) takeOut(renewal);
    },
    renewAll() {
      for (let link = ring.next; link !== ring; link = link.next) link.call?.renew();
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
