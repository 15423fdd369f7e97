import {
  auditHash,
  auditValue,
  type AuditEntry,
  type AuditStore,
  type NewAuditEntry,
} from '@model-gateway/accounts';
import { AUDIT_GENESIS_HASH } from '@model-gateway/contracts';
import type { FairQueue } from '@model-gateway/kernel';
import type { Connection, Queries } from '../connection/connection.ts';
import { storableJson, storableText } from '../connection/storable-text.ts';
import { Prisma } from '../generated/client.ts';

// Held from the reading of the last entry to the end of the transaction, so that the chain has no branches.
const AUDIT_LOCK = 4_711_002n;
const TARGET_CHARS_MAX = 512;
const CLIENT_CHARS_MAX = 64;
const REQUEST_CHARS_MAX = 128;

/** The audit log in Postgres. An entry outside of a transaction waits for its turn before it takes a connection. */
export function createPostgresAudit(connection: Connection, turns: FairQueue): AuditStore {
  return {
    append(entry) {
      const insert = () => connection.transaction((queries) => append(queries, entry));
      if (connection.isInTransaction) return insert();
      return turns.run(entry.actor.userId ?? entry.actor.kind, insert);
    },

    list: ({ actorId, action, target, from, to, beforeSeq, countMax }) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<AuditRow[]>`
          SELECT ${SHOWN} FROM audit_entries a LEFT JOIN users u ON u.id = a.actor_id
          WHERE TRUE
            ${actorId === undefined ? Prisma.empty : Prisma.sql`AND a.actor_id = ${actorId}::uuid`}
            ${action === undefined ? Prisma.empty : Prisma.sql`AND a.action = ${action}`}
            ${target === undefined ? Prisma.empty : Prisma.sql`AND a.target = ${target}`}
            ${within(from, to)}
            ${beforeSeq === undefined ? Prisma.empty : Prisma.sql`AND a.seq < ${beforeSeq}`}
          ORDER BY a.seq DESC LIMIT ${countMax}`;
        return rows.map(entryOf);
      }),

    read: ({ afterSeq, from, to, countMax }) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<AuditRow[]>`
          SELECT ${SHOWN} FROM audit_entries a LEFT JOIN users u ON u.id = a.actor_id
          WHERE a.seq > ${afterSeq} ${within(from, to)}
          ORDER BY a.seq LIMIT ${countMax}`;
        return rows.map(entryOf);
      }),
  };
}

async function append(queries: Queries, entry: NewAuditEntry): Promise<void> {
  const last = await lockLast(queries);
  const values = {
    actor: entry.actor,
    action: entry.action,
    target: entry.target === null ? null : limited(entry.target, TARGET_CHARS_MAX),
    before: storable(entry.before),
    after: storable(entry.after),
    clientIp: limited(entry.clientIp, CLIENT_CHARS_MAX),
    requestId: limited(entry.requestId, REQUEST_CHARS_MAX),
    seq: Number(last?.seq ?? 0n) + 1,
    at: new Date(),
    previousHash: last?.hash ?? AUDIT_GENESIS_HASH,
  };
  const { actor, seq, before, after, ...rest } = values;
  await queries.auditEntry.create({
    data: {
      ...rest,
      seq: BigInt(seq),
      actor: actor.kind,
      actorId: actor.userId,
      before: before === null ? null : JSON.stringify(before),
      after: after === null ? null : JSON.stringify(after),
      hash: auditHash(values),
    },
    select: { seq: true },
  });
}

const SHOWN = Prisma.sql`
  a.seq, a.at, a.actor, a.actor_id AS "actorId", u.email AS "actorEmail", a.action, a.target,
  a.before, a.after, a.client_ip AS "clientIp", a.request_id AS "requestId",
  a.previous_hash AS "previousHash", a.hash`;

function within(from: Date | undefined, to: Date | undefined): Prisma.Sql {
  const since = from === undefined ? Prisma.empty : Prisma.sql`AND a.at >= ${from}`;
  return to === undefined ? since : Prisma.sql`${since} AND a.at < ${to}`;
}

async function lockLast(
  queries: Queries,
): Promise<{ readonly seq: bigint; readonly hash: string } | undefined> {
  await queries.$executeRaw`SELECT pg_advisory_xact_lock(${AUDIT_LOCK})`;
  const last = await queries.auditEntry.findFirst({
    orderBy: { seq: 'desc' },
    select: { seq: true, hash: true },
  });
  return last ?? undefined;
}

interface AuditRow {
  readonly seq: bigint;
  readonly at: Date;
  readonly actor: AuditEntry['actor']['kind'];
  readonly actorId: string | null;
  readonly actorEmail: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly clientIp: string;
  readonly requestId: string;
  readonly previousHash: string;
  readonly hash: string;
}

function entryOf({ seq, at, actor, actorId, before, after, ...row }: AuditRow): AuditEntry {
  return {
    ...row,
    seq: Number(seq),
    at: readableTime(at),
    actor: { kind: actor, userId: actorId },
    before: parsed(before),
    after: parsed(after),
  };
}

/** A time that someone changed may be none that JavaScript has, such as `infinity`; its hash then does not fit either. */
const readableTime = (at: Date): Date => (Number.isNaN(at.getTime()) ? new Date(0) : at);

/** A text that someone changed may be no JSON; its hash then does not fit, which is what a check reports. */
function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Hashed and stored in the same form. */
function storable(value: unknown): unknown {
  const kept = auditValue(value);
  return kept === null ? null : (JSON.parse(storableJson(kept)) as unknown);
}

const limited = (text: string, charsMax: number): string => storableText(text).slice(0, charsMax);
