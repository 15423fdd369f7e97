import { auditContent } from '@model-gateway/contracts';
import { sha256Hex } from '@model-gateway/kernel';
import type { AuditEntry } from './audit-store.ts';

/** The hash of an entry: of everything in it and of the entry before. */
export const auditHash = (entry: Omit<AuditEntry, 'hash' | 'actorEmail'>): string =>
  sha256Hex(
    auditContent({
      seq: entry.seq,
      at: entry.at.toISOString(),
      actor: entry.actor.kind,
      actor_id: entry.actor.userId,
      action: entry.action,
      target: entry.target,
      before: entry.before,
      after: entry.after,
      client_ip: entry.clientIp,
      request_id: entry.requestId,
      previous_hash: entry.previousHash,
    }),
  );
