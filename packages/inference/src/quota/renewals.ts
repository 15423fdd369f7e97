/** What a call needs to go on counting. */
export interface Renewable {
  /** Waits for nothing and never fails. */
  renew(): void;
}

/** Renews the calls of this process while they run: without that the admission store lets them expire. */
export interface Renewals {
  add(call: Renewable): void;
  remove(call: Renewable): void;
}

// A call is renewed at the latest after twice this time. The admission store keeps one for 15 minutes.
const RENEW_MS = 5 * 60_000;

/** There is a timer only while there are calls. */
export function createRenewals(renewMs: number = RENEW_MS): Renewals {
  let fresh = new Set<Renewable>();
  const long = new Set<Renewable>();
  let timer: NodeJS.Timeout | undefined;

  function renewAll(): void {
    for (const call of long) call.renew();
    for (const call of fresh) long.add(call);
    fresh = new Set();
    if (long.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    add(call) {
      fresh.add(call);
      timer ??= setInterval(renewAll, renewMs).unref();
    },
    remove(call) {
      if (!fresh.delete(call)) long.delete(call);
    },
  };
}
