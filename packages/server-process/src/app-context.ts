import type { Passwords } from '@model-gateway/accounts';
import type { Bus } from '@model-gateway/bus';
import type { Database } from '@model-gateway/db';
import type { Clock, Log, Metrics, Tracing } from '@model-gateway/kernel';

/** What every server app is given: the stores and instruments of the process that it lives in. */
export interface AppContext {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where spans go; undefined when tracing is off. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly database: Database;
  readonly bus: Bus;
  /** Signs access tokens. */
  readonly jwtSecret: string;
  /** Hashes passwords; at full cost if undefined. */
  readonly passwords?: Passwords | undefined;
  /** What routers show to the processes that hold the connections of GPU nodes. */
  readonly agentTunnelKey: string;
  /** Calls the listener for each SIGHUP; returns how to end that. Undefined where the process gets no signals. */
  readonly onHangUp?: ((listener: () => void) => () => void) | undefined;
  /** Aborted when the process begins to drain. */
  readonly stopping: AbortSignal;
}
