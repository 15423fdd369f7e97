import { AUDIT_GENESIS_HASH, invalidParam } from '@model-gateway/contracts';
import { yieldToEventLoop } from '@model-gateway/kernel';
import { auditHash } from './audit-hash.ts';
import type { AuditEntry, AuditStore } from './audit-store.ts';

/** An entry up to which the chain is known. */
interface Anchor {
  readonly seq: number;
  readonly hash: string;
}

/** The result of one step. */
interface ChainCheck {
  readonly checked: number;
  /** The last good entry. */
  readonly last: Anchor | undefined;
  readonly hasMore: boolean;
  readonly broken: { readonly seq: number; readonly reason: string } | undefined;
}

const PAGE_ENTRIES = 500;
const START: Anchor = { seq: 0, hash: AUDIT_GENESIS_HASH };
/** The service numbers from 1, but a check from the beginning reads what was added before it as well. */
const LOWEST_SEQ = Number.MIN_SAFE_INTEGER;

/** Checks the chain after an anchor, or from its beginning, up to a number of entries. */
export async function checkAuditChain(
  store: Pick<AuditStore, 'read'>,
  { anchor, countMax }: { readonly anchor: Anchor | undefined; readonly countMax: number },
): Promise<ChainCheck> {
  const lost = anchor === undefined ? undefined : await lostAnchor(store, anchor);
  if (lost !== undefined) return { checked: 0, last: undefined, hasMore: false, broken: lost };
  let last = anchor ?? START;
  let checked = 0;
  while (checked < countMax) {
    const wanted = Math.min(PAGE_ENTRIES, countMax - checked);
    const afterSeq = last.seq === START.seq ? LOWEST_SEQ : last.seq;
    const page = await store.read({ afterSeq, countMax: wanted });
    for (const entry of page) {
      const reason = problemOf(entry, last);
      if (reason !== undefined)
        return { checked, last: shown(last), hasMore: false, broken: { seq: entry.seq, reason } };
      last = { seq: entry.seq, hash: entry.hash };
      checked += 1;
    }
    if (page.length < wanted)
      return { checked, last: shown(last), hasMore: false, broken: undefined };
    await yieldToEventLoop();
  }
  return { checked, last: shown(last), hasMore: true, broken: undefined };
}

/**
 * Why the known entry does not match the log. An archive may have removed it, but never the newest entry, whose hash the next
 * one contains.
 */
async function lostAnchor(
  store: Pick<AuditStore, 'read'>,
  { seq, hash }: Anchor,
): Promise<ChainCheck['broken']> {
  if (seq === START.seq) return undefined;
  const [entry] = await store.read({ afterSeq: seq - 1, countMax: 1 });
  if (entry === undefined)
    return {
      seq,
      reason: 'it is missing, and there is no entry after it: the newest were removed',
    };
  return entry.seq === seq && entry.hash !== hash
    ? { seq, reason: 'it does not have the hash that was given' }
    : undefined;
}

const shown = (last: Anchor): Anchor | undefined => (last.seq === 0 ? undefined : last);

/** Why an entry cannot follow another one. */
function problemOf(entry: AuditEntry, last: Anchor): string | undefined {
  if (entry.seq <= START.seq)
    return 'the service did not write it: its first entry has the number 1';
  if (entry.seq !== last.seq + 1)
    return last.seq === 0
      ? 'entries before it are missing: give the last entry of the archive as the start'
      : 'entries before it are missing';
  if (entry.previousHash !== last.hash) return 'it does not carry the hash of the entry before';
  return auditHash(entry) === entry.hash ? undefined : 'its content does not fit its hash';
}

/** The anchor that a caller gives: both parts or none. */
export function anchorOf(
  after: number | null | undefined,
  hash: string | null | undefined,
): Anchor | undefined {
  if ((after ?? undefined) === undefined && (hash ?? undefined) === undefined) return undefined;
  if (typeof after === 'number' && typeof hash === 'string') return { seq: after, hash };
  const missing = typeof after === 'number' ? 'hash' : 'after';
  throw invalidParam(missing, "'after' and 'hash' belong together");
}
