import type { auditEntry } from '@model-gateway/contracts';
import type { z } from 'zod';
import type { AuditEntry } from './audit-store.ts';

/** An entry as it is listed and exported. */
export function auditRecord(entry: AuditEntry): z.output<typeof auditEntry> {
  return {
    seq: entry.seq,
    at: entry.at.toISOString(),
    actor: entry.actor.kind,
    actor_id: entry.actor.userId,
    actor_email: entry.actorEmail,
    action: entry.action,
    target: entry.target,
    before: entry.before,
    after: entry.after,
    client_ip: entry.clientIp,
    request_id: entry.requestId,
    previous_hash: entry.previousHash,
    hash: entry.hash,
  };
}
