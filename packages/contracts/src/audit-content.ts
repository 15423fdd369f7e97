/** An entry of the audit log, as it is stored and exported. */
export interface AuditFields {
  readonly seq: number;
  /** RFC 3339 in UTC, with milliseconds. */
  readonly at: string;
  readonly actor: string;
  readonly actor_id: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly client_ip: string;
  readonly request_id: string;
  readonly previous_hash: string;
}

/** The `previous_hash` of the first entry. */
export const AUDIT_GENESIS_HASH = '0'.repeat(64);

/** The text whose SHA-256 is the hash of an entry. */
export function auditContent(entry: AuditFields): string {
  const { seq, at, actor, actor_id, action, target, before, after } = entry;
  const { client_ip, request_id, previous_hash } = entry;
  return JSON.stringify([
    seq,
    at,
    actor,
    actor_id,
    action,
    target,
    before ?? null,
    after ?? null,
    client_ip,
    request_id,
    previous_hash,
  ]);
}
