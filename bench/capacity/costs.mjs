// What one unit of each kind of work costs. Measured on 2 × Neoverse-N1 with other work; docs/performance.md has the tables
// and the commands. A newer core needs a half to a third of it.

/** Microseconds of one core. */
export const CPU_US = {
  /** A gateway for a request: key, limits, quota, call of the upstream, usage event. */
  request: 400,
  /** A gateway for a streamed token. */
  token: 114,
  /** A gateway for each registered backend that it looks at when it chooses. */
  backend: 0.08,
  /** A recorder and Postgres for a usage event, with a thousand users in the journal. */
  recorder: 87,
  postgres: 121,
  /** A tunnel for a heartbeat of a node, and for a token that passes it, which is an estimate. */
  heartbeat: 449,
  tunnelToken: 57,
};

/** What Redis takes for a request, and keeps of a user and of an event that waits: estimates, which `--measure` replaces. */
export const REDIS = { requestUs: 60, userBytes: 700, eventBytes: 900 };

/** Postgres for a usage row with its indexes and its part of the kept sums: an estimate, which `--measure` replaces. */
export const ROW_BYTES = 900;
