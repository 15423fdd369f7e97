import { statfs } from 'node:fs/promises';
import type { CommandContext } from '../command-context.ts';
import { bytes, duration } from '../output/format.ts';
import { isLocal } from '../service/admin-token.ts';
import { checked, type CheckResult } from './check.ts';

const GIB = 1024 ** 3;
const FREE_WARNING_BYTES = 2 * GIB;
const FREE_FAILED_BYTES = GIB / 4;
const CLOCK_WARNING_MS = 30_000;
const SECOND_MS = 1000;

/** When the request was sent and its response arrived, by the clock of this machine. */
export interface Exchange {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Compares the clocks by the `Date` header, which has whole seconds. */
export function clockCheck(date: string | null, { sentAt, receivedAt }: Exchange): CheckResult {
  const served = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(served)) return checked('clock', 'skipped', 'the response has no Date header');
  const ahead = Math.max(0, served - receivedAt);
  const behind = Math.max(0, sentAt - (served + SECOND_MS));
  const differenceMs = Math.max(ahead, behind);
  if (differenceMs < CLOCK_WARNING_MS) {
    return checked('clock', 'ok', 'the clocks of this machine and the service agree');
  }
  return checked(
    'clock',
    'warning',
    `the clock of the service is ${duration(differenceMs)} ${ahead > 0 ? 'ahead of' : 'behind'} this machine`,
    'Synchronize both clocks, for example: timedatectl set-ntp true',
  );
}

/** Whether the data directory has room, where it is on this machine. */
export async function diskCheck({ config, service }: CommandContext): Promise<CheckResult> {
  const { dataDir } = config;
  if (!isLocal(service.url)) {
    return checked('disk', 'skipped', 'the service is on another machine');
  }
  const disk = await statfs(dataDir).catch(() => undefined);
  if (disk === undefined) {
    return checked(
      'disk',
      'skipped',
      `there is no data directory ${dataDir}`,
      'Run gateway doctor in the folder of the service, or set SERVICE_DATA_DIR.',
    );
  }
  return spaceCheck(disk.bavail * disk.bsize, dataDir);
}

/** The rule of the free space. */
export function spaceCheck(freeBytes: number, dataDir: string): CheckResult {
  const status =
    freeBytes < FREE_FAILED_BYTES ? 'failed' : freeBytes < FREE_WARNING_BYTES ? 'warning' : 'ok';
  const next =
    status === 'ok'
      ? null
      : 'Free space on that disk, or move the data directory to a larger one and set SERVICE_DATA_DIR.';
  return checked('disk', status, `${bytes(freeBytes)} free for ${dataDir}`, next);
}

/** Whether only the user can read the stored credentials. */
export async function credentialsCheck({ file }: CommandContext): Promise<CheckResult> {
  const isExposed = await file.isExposed();
  if (isExposed === undefined) return checked('credentials', 'ok', 'no sign-in is kept here yet');
  return isExposed
    ? checked(
        'credentials',
        'warning',
        `other users can read ${file.path}`,
        `Run: chmod 600 ${file.path}`,
      )
    : checked('credentials', 'ok', `only you can read ${file.path}`);
}
