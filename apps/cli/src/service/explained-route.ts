/** A target in `GET /api/admin/route`, as far as the command line reads it. */
export interface ExplainedTarget {
  readonly position: number | null;
  readonly backend: string | null;
  readonly model: string | null;
  readonly priority: number | null;
  readonly share: number | null;
  readonly reason: string | null;
  readonly detail: string | null;
}

/** `GET /api/admin/route`. */
export interface ExplainedRoute {
  readonly targets: readonly ExplainedTarget[];
}
