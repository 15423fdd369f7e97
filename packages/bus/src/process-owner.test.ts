import { spawnSync } from 'node:child_process';
import {
  formatOwner,
  isOwnerDead,
  newProcessOwner,
  parseOwner,
  type ProcessOwner,
} from './process-owner.ts';

const MINUTE_MS = 60_000;
const STARTED_AT = 1_000_000;
const me = newProcessOwner(STARTED_AT + 1);
const sibling = newProcessOwner(STARTED_AT + 2);
const deadPid = spawnSync(process.execPath, ['--version']).pid;

test('a name has its owner', () => {
  expect(parseOwner(formatOwner(me))).toEqual(me);
  expect(parseOwner('somebody')).toBeUndefined();
});

const cases: readonly {
  readonly why: string;
  readonly owner: ProcessOwner;
  readonly untouchedMs: number;
  readonly gone: boolean;
}[] = [
  { why: 'it let go', owner: { ...sibling, pid: 0 }, untouchedMs: 0, gone: true },
  { why: 'its process is dead', owner: { ...me, pid: deadPid }, untouchedMs: 0, gone: true },
  { why: 'its process lives', owner: { ...me, pid: process.ppid }, untouchedMs: 0, gone: false },
  {
    why: 'its process id lives on in another program',
    owner: { ...me, pid: process.ppid },
    untouchedMs: 11 * MINUTE_MS,
    gone: true,
  },
  { why: 'it shares this process', owner: sibling, untouchedMs: 0, gone: false },
  {
    why: 'it had this process id before this process began',
    owner: { ...me, createdAt: STARTED_AT - 1 },
    untouchedMs: 0,
    gone: true,
  },
  {
    why: 'it is in another container and was seen just now',
    owner: { ...me, space: 'pid4', pid: deadPid },
    untouchedMs: MINUTE_MS / 2,
    gone: false,
  },
  {
    why: 'it is in another container and has been silent',
    owner: { ...me, space: 'pid4', pid: process.ppid },
    untouchedMs: 2 * MINUTE_MS,
    gone: true,
  },
  {
    why: 'it is on another host and was seen lately',
    owner: { ...me, host: 'other', pid: deadPid },
    untouchedMs: 9 * MINUTE_MS,
    gone: false,
  },
  {
    why: 'it is on another host and has been silent',
    owner: { ...me, host: 'other', pid: process.ppid },
    untouchedMs: 11 * MINUTE_MS,
    gone: true,
  },
];

test.each(cases)('an owner is gone: $gone, when $why', ({ owner, untouchedMs, gone }) => {
  expect(isOwnerDead(owner, me, untouchedMs, STARTED_AT)).toBe(gone);
});
