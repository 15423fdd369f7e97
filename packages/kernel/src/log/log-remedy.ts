import { isError } from '../errors/errors.ts';
import { isDiskFull, STARTUP_PROBLEMS } from '../errors/startup-problems.ts';

/** Every part that writes meets a full disk; each line about it says what to do. */
export function withRemedy(
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { error, reason, remedy } = fields;
  const isAboutDisk = [error, reason].some(
    (cause) => (typeof cause === 'string' || isError(cause)) && isDiskFull(cause),
  );
  return isAboutDisk && remedy === undefined
    ? { ...fields, remedy: STARTUP_PROBLEMS.disk_full.remedy }
    : fields;
}
