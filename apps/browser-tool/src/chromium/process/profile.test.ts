import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@model-gateway/kernel';
import { sweepProfiles } from './profile.ts';

// No process has this id.
const ENDED = '2147483646';
const OTHER_USER = 65_534;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'browser-tool-test-'));
  jest.spyOn(os, 'tmpdir').mockReturnValue(folder);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

async function makeProfile(owner: string | null = ENDED): Promise<string> {
  const profile = join(folder, `browser-tool-profile-${randomBytes(8).toString('hex')}`);
  await mkdir(profile);
  if (owner !== null) await writeFile(join(profile, 'owner.pid'), owner);
  return profile;
}

test('profiles of ended processes are removed with their temporary folders', async () => {
  const stale = await makeProfile();
  const temporary = join(folder, 'bt-0a0b0c0d');
  await mkdir(temporary);
  await writeFile(join(stale, 'temporary-folder'), temporary);
  const running = await makeProfile(String(process.pid));
  await sweepProfiles(silentLog);
  expect([stale, temporary, running].map(existsSync)).toEqual([false, false, true]);
});

test('a FIFO in the place of the owner file blocks nothing', async () => {
  const hostile = await makeProfile(null);
  execFileSync('mkfifo', [join(hostile, 'owner.pid')]);
  const stale = await makeProfile();
  await sweepProfiles(silentLog);
  expect([hostile, stale].map(existsSync)).toEqual([true, false]);
});

test('links are not followed', async () => {
  const kept = join(folder, 'kept');
  await mkdir(kept);
  await writeFile(join(kept, 'owner.pid'), ENDED);
  await symlink(kept, join(folder, 'browser-tool-profile-0123456789abcdef'));
  const linked = await makeProfile(null);
  await symlink(join(kept, 'owner.pid'), join(linked, 'owner.pid'));
  await sweepProfiles(silentLog);
  expect([kept, linked].map(existsSync)).toEqual([true, true]);
});

test('folders of another user stay', async () => {
  // Only root can make them.
  if (process.getuid?.() !== 0) return;
  const foreign = await makeProfile();
  await chown(foreign, OTHER_USER, OTHER_USER);
  const temporary = join(folder, 'bt-0a0b0c0e');
  await mkdir(temporary);
  await chown(temporary, OTHER_USER, OTHER_USER);
  const stale = await makeProfile();
  await writeFile(join(stale, 'temporary-folder'), temporary);
  await sweepProfiles(silentLog);
  expect([foreign, temporary, stale].map(existsSync)).toEqual([true, true, false]);
});
