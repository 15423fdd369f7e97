import { z } from 'zod';
import { method } from '../method.ts';
import { clamped, record, text, timestamp } from './records.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;
const STEP_DEFAULT = 10_000;
const STEP_MAX = 50_000;

const seq = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex');

/** One change, as it is listed and exported. */
export const auditEntry = record('AuditEntry', {
  seq: z.int(),
  at: timestamp,
  actor: z.enum(['user', 'admin-token', 'reset-link', 'provider']),
  actor_id: z.uuid().nullable(),
  /** As it is now; not part of the hash, because it is removed with the person. */
  actor_email: z.string().nullable(),
  action: z.string(),
  target: z.string().nullable(),
  before: z.unknown(),
  after: z.unknown(),
  client_ip: z.string(),
  request_id: z.string(),
  previous_hash: z.string(),
  hash: z.string(),
});

export const auditMethods = {
  'audit.list': method({
    auth: 'admin-or-admin-token',
    summary: 'Changes by admins, owners and the admin token, newest first.',
    params: z.object({
      actor_id: z.uuid().optional(),
      action: text(128).optional().describe('such as `users.update`'),
      target: text(512).optional().describe('such as `user:<id>`'),
      from: timestamp.optional(),
      to: timestamp.optional(),
      before: seq.nullish().describe('only entries before this one'),
      limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT),
    }),
    result: z.object({
      entries: z.array(auditEntry),
      has_more: z.boolean(),
      before: z.int().nullable().describe('for the next call, if there are more'),
    }),
    isExtension: true,
  }),
  'audit.verify': method({
    auth: 'admin-or-admin-token',
    summary:
      'Check the hash chain of the audit log, in steps: repeat with `after` and `hash` of the answer while `has_more` is true.',
    params: z.object({
      after: seq.nullish().describe('the last entry that is known, such as that of an archive'),
      hash: hash.nullish().describe('its hash'),
      limit: clamped(1, STEP_MAX).prefault(STEP_DEFAULT),
    }),
    result: z.object({
      ok: z.boolean(),
      checked: z.int(),
      /** The last good entry and its hash. */
      after: z.int().nullable(),
      hash: z.string().nullable(),
      has_more: z.boolean(),
      /** The first entry that does not fit. */
      broken: z.object({ seq: z.int(), reason: z.string() }).nullable(),
    }),
    isExtension: true,
  }),
};
