import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode, randomToken } from '@model-gateway/kernel';

/** Who appends to a segment file. Two owners never share a name, not even inside one process. */
export interface SegmentOwner {
  readonly instance: string;
  readonly host: string;
  /** The process-id namespace: equal ids in two containers are not the same process. */
  readonly space: string;
  /** 0 when the owner has let the segment go. */
  readonly pid: number;
  /** When the owner was made, in milliseconds since the epoch. */
  readonly bornAt: number;
  readonly nonce: string;
}

export interface SegmentName {
  readonly owner: SegmentOwner;
  readonly sequence: number;
}

// A live owner touches its segments every 15 s, so these leave room for a stalled process and clocks that differ.
const OTHER_SPACE_STALE_MS = 60_000;
const OTHER_HOST_STALE_MS = 600_000;
const PATTERN = /^([^~]*)~([^~]*)~([^~]*)~(\d+)~(\d+)~([^~]+)~(\d+)\.jsonl$/;

/** The owner that this process is for one journal. */
export function newSegmentOwner(instance: string, now: number): SegmentOwner {
  return {
    instance: nameable(instance),
    host: nameable(hostname()),
    space: processSpace(),
    pid: process.pid,
    bornAt: now,
    nonce: randomToken(6).replaceAll(/[-_]/g, 'x'),
  };
}

export function formatSegmentName({ owner, sequence }: SegmentName): string {
  const { instance, host, space, pid, bornAt, nonce } = owner;
  const number = String(sequence).padStart(8, '0');
  return `${[instance, host, space, pid, bornAt, nonce, number].join('~')}.jsonl`;
}

/** Undefined for a file that is not a segment. */
export function parseSegmentName(file: string): SegmentName | undefined {
  const match = PATTERN.exec(file);
  if (match === null) return undefined;
  const [, instance = '', host = '', space = '', pid, bornAt, nonce = '', sequence] = match;
  const owner = { instance, host, space, pid: Number(pid), bornAt: Number(bornAt), nonce };
  return { owner, sequence: Number(sequence) };
}

/** Whether nobody can append to the owner's segment any more, so that another may take it over. */
export function isOwnerGone(
  owner: SegmentOwner,
  me: SegmentOwner,
  untouchedMs: number,
  processStartedAt: number = performance.timeOrigin,
): boolean {
  if (owner.pid === 0) return true;
  if (owner.host !== me.host) return untouchedMs > OTHER_HOST_STALE_MS;
  if (owner.space !== me.space) return untouchedMs > OTHER_SPACE_STALE_MS;
  // The same id before this process began: an earlier life, as after a container's restart.
  if (owner.pid === me.pid && owner.bornAt < processStartedAt) return true;
  // An id that is alive may have been given to another program since.
  return !isAlive(owner.pid) || untouchedMs > OTHER_HOST_STALE_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Anything but "no such process", a missing permission above all, means that there is one.
    return errorCode(error) !== 'ESRCH';
  }
}

function processSpace(): string {
  try {
    return nameable(readlinkSync('/proc/self/ns/pid'));
  } catch {
    return 'none';
  }
}

const nameable = (text: string): string => text.replaceAll(/[^A-Za-z0-9.-]/g, '').slice(0, 64);
