import type { Meter } from '../usage/meter.ts';
import type { CallContext } from './call.ts';

/** Why a call failed, as a client over HTTP learns it. */
export interface CallFailure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Notes the failure of a call with a known caller in the request log, unless it was metered. */
export function logFailedCall(
  context: CallContext,
  failure: CallFailure,
  meter: Pick<Meter, 'failed'>,
): void {
  const { surface, startedAt, log } = context;
  const { caller, trace, model } = log;
  if (caller === undefined || trace?.isRecorded === true) return;
  const refId = refOf(context);
  meter.failed({ caller, surface, model, refId, trace, startedAt, ...failure });
}

/** A reference that is not valid is the reason of the failure. */
function refOf(context: CallContext): string | null {
  try {
    return context.refId;
  } catch {
    return null;
  }
}
