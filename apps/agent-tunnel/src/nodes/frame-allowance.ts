/** How much a node may send. Anything beyond it is read later, so that one node cannot keep this process busy. */
export interface FrameAllowance {
  /** Notes a connection, or a control frame of this many bytes. */
  onConnection(): void;
  onControlFrame(bytes: number): void;
  /** Notes a frame of an HTTP exchange. */
  onTunnelFrame(): void;
  /** How long nothing more is read from the node; 0 if it is within its allowance. */
  waitMs(): number;
}

/** The allowances of all nodes: one for all connections of a node, so that connecting again gives no new one. */
export interface FrameAllowances {
  of(agentId: string): FrameAllowance;
}

/** Control frames are parsed, checked and stored. A large one counts several times. */
const CONTROL = { perSec: 200, burst: 2_000 };
const CONTROL_STEP_BYTES = 4 * 1024;
const CONNECTION_COST = 10;
/** Frames of answers are only passed on; many streams at a time may send thousands in a second. */
const TUNNEL = { perSec: 20_000, burst: 40_000 };
const MS_PER_SEC = 1_000;

export function createFrameAllowances(now = () => performance.now()): FrameAllowances {
  const known = new Map<string, FrameAllowance>();
  return {
    of(agentId) {
      const found = known.get(agentId);
      if (found !== undefined) return found;
      const allowance = createFrameAllowance(now);
      known.set(agentId, allowance);
      return allowance;
    },
  };
}

function createFrameAllowance(now: () => number): FrameAllowance {
  const control = createBucket(CONTROL, now);
  const tunnel = createBucket(TUNNEL, now);
  return {
    onConnection: () => control.spend(CONNECTION_COST),
    onControlFrame: (bytes) => control.spend(1 + Math.floor(bytes / CONTROL_STEP_BYTES)),
    onTunnelFrame: () => tunnel.spend(1),
    waitMs: () => Math.max(control.waitMs(), tunnel.waitMs()),
  };
}

/** A token bucket that may get into debt. */
function createBucket(
  { perSec, burst }: { readonly perSec: number; readonly burst: number },
  now: () => number,
) {
  let tokens = burst;
  let countedAt = now();
  function refill(): void {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - countedAt) / MS_PER_SEC) * perSec);
    countedAt = at;
  }
  return {
    spend(cost: number): void {
      refill();
      tokens -= cost;
    },
    waitMs(): number {
      if (tokens >= 0) return 0;
      refill();
      return tokens >= 0 ? 0 : Math.ceil((-tokens / perSec) * MS_PER_SEC);
    },
  };
}
