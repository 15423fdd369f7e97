/** A backend as `GET /api/admin/backends` lists it. */
export interface ListedBackend {
  readonly name: string;
  readonly type: string;
  readonly state: 'Healthy' | 'Degraded' | 'Unhealthy';
  readonly circuit: 'closed' | 'open' | 'half-open';
  /** Of operations whose circuit is not closed. */
  readonly operation_circuits?: Readonly<Record<string, string>>;
  readonly models: readonly string[];
  /** Why it is not as it should be. */
  readonly reason?: string | null;
  readonly checked_at?: string | null;
}

/** The body of that response. */
export interface BackendList {
  readonly backends: { readonly health: readonly ListedBackend[] };
}

/** The response of `POST /api/admin/backends/by-name/{name}/test`. */
export interface BackendTest {
  readonly status: 'ok' | 'failed';
  readonly probe: {
    readonly state: ListedBackend['state'];
    readonly reason: string | null;
    readonly latency_ms: number | null;
  };
  readonly chat: {
    readonly status: 'ok' | 'failed' | 'skipped';
    readonly reason: string | null;
    readonly model: string | null;
    readonly latency_ms: number | null;
    readonly text: string | null;
  };
}
