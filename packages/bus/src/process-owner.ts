import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode, randomToken } from '@model-gateway/kernel';

/** A process, told well enough to know later whether it is gone. Two owners never share a name, not even inside one process. */
export interface ProcessOwner {
  readonly host: string;
  /** The process-id namespace: equal ids in two containers are not the same process. */
  readonly space: string;
  /** 0 when the owner has let go of what it owned. */
  readonly pid: number;
  /** When the owner was made, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly nonce: string;
}

// A live owner touches its segments every 15 s, so these leave room for a stalled process and clocks that differ.
const OTHER_SPACE_STALE_MS = 60_000;
const OTHER_HOST_STALE_MS = 600_000;
const PATTERN = /^([^~]*)~([^~]*)~(\d+)~(\d+)~([^~]+)$/;

/** What this process is called as an owner from now on. */
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

/** Whether the owner will never come back to what it owned, so that another may take it over. */
export function isOwnerDead(
  owner: ProcessOwner,
  me: ProcessOwner,
  untouchedMs: number,
  processStartedAt: number = performance.timeOrigin,
): boolean {
  if (owner.pid === 0) return true;
  if (owner.host !== me.host) return untouchedMs > OTHER_HOST_STALE_MS;
  if (owner.space !== me.space) return untouchedMs > OTHER_SPACE_STALE_MS;
  // The same id before this process began: an earlier life, as after a container's restart.
  if (owner.pid === me.pid && owner.createdAt < processStartedAt) return true;
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

/** The text without what would not do in a name. */
export const nameable = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9.-]/g, '').slice(0, 64);
