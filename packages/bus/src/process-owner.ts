import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode, randomToken } from '@model-gateway/kernel';

/** Identifies a process, to know later whether it has ended. Two owners never share a name, not even in one process. */
export interface ProcessOwner {
  readonly host: string;
  /** The process-id namespace: equal ids in two containers are not the same process. */
  readonly space: string;
  /** 0 when the owner has released its segments. */
  readonly pid: number;
  /** The time of creation, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly nonce: string;
}

// A live owner touches its segments every 15 s, so these allow for a stalled process and clocks that differ.
const OTHER_SPACE_STALE_MS = 60_000;
const OTHER_HOST_STALE_MS = 600_000;
const PATTERN = /^([^~]*)~([^~]*)~(\d+)~(\d+)~([^~]+)$/;

/** A new owner for this process. */
export function newProcessOwner(now: number): ProcessOwner {
  return {
    host: nameable(hostname()),
    space: processSpace(),
    pid: process.pid,
    createdAt: now,
    nonce: randomToken(6).replaceAll(/[-_]/g, 'x'),
  };
}

export function formatOwner({ host, space, pid, createdAt, nonce }: ProcessOwner): string {
  return [host, space, pid, createdAt, nonce].join('~');
}

/** Undefined for a text that names no owner. */
export function parseOwner(text: string): ProcessOwner | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [, host = '', space = '', pid, createdAt, nonce = ''] = match;
  return { host, space, pid: Number(pid), createdAt: Number(createdAt), nonce };
}

/** Whether the owner has ended, so that another may take over its segments. */
export function isOwnerDead(
  owner: ProcessOwner,
  me: ProcessOwner,
  untouchedMs: number,
  processStartedAt: number = performance.timeOrigin,
): boolean {
  if (owner.pid === 0) return true;
  if (owner.host !== me.host) return untouchedMs > OTHER_HOST_STALE_MS;
  if (owner.space !== me.space) return untouchedMs > OTHER_SPACE_STALE_MS;
  // The same id before this process started: an earlier process, as after a container's restart.
  if (owner.pid === me.pid && owner.createdAt < processStartedAt) return true;
  // A live id may belong to another program by now.
  return !isAlive(owner.pid) || untouchedMs > OTHER_HOST_STALE_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Any error but "no such process", such as a missing permission, means that there is one.
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

/** The text without characters that are not allowed in a name. */
const nameable = (text: string): string => text.replaceAll(/[^A-Za-z0-9.-]/g, '').slice(0, 64);
