import { isError } from '../errors/errors.ts';
import { isDiskFull } from '../errors/startup-problems.ts';

const REMEDY =
  'free space on the disk that is full: that of SERVICE_DATA_DIR, or of Postgres or Redis where they run elsewhere';
const CAUSES_MAX = 5;

/** Every part that writes meets a full disk; each line about it says what to do, whatever else failed because of it. */
export function withRemedy(
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { error, reason } = fields;
  const isAboutDisk =
    (typeof reason === 'string' && isDiskFull(reason)) || causesOf(error).some(isDiskFull);
  return isAboutDisk ? { ...fields, remedy: REMEDY } : fields;
}

/** An error and what caused it. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let cause = error; isError(cause) && causes.length < CAUSES_MAX; cause = cause.cause)
    causes.push(cause);
  return causes;
}
