import { describeError } from '@model-gateway/kernel';
import { RPC_ERRORS, type RpcMessage } from '@model-gateway/json-rpc';
import { UpstreamFailure } from '@model-gateway/router';
import { cleanMessage } from '../errors/upstream-error.ts';

/** A call that the peer answered with an error. */
export class RpcRefusal extends UpstreamFailure {}

/** A call or stream that timed out. */
export class RpcTimeout extends UpstreamFailure {}

const { invalidRequest, methodNotFound, invalidParams } = RPC_ERRORS;
const CALLER_FAULTS: readonly number[] = [invalidRequest, methodNotFound, invalidParams];

/** The failure of a call that timed out. */
export function timedOut(milliseconds: number): RpcTimeout {
  return new RpcTimeout(`the upstream sent nothing for ${milliseconds} ms`, {
    isBackendAtFault: true,
    isTimeout: true,
  });
}

/** The failure of an aborted call. */
export function aborted({ reason }: AbortSignal): UpstreamFailure {
  return new UpstreamFailure(describeError(reason), { isBackendAtFault: false, cause: reason });
}

/** The failure of a call that was aborted before it was sent. */
export function abortedUnsent(signal: AbortSignal): UpstreamFailure {
  const reason: unknown = signal.reason;
  const details = { isBackendAtFault: false, hadNoEffect: true, cause: reason };
  return new UpstreamFailure(describeError(reason), details);
}

/** The failure of a call that was answered with an error. */
export function refused(
  { code, message }: NonNullable<RpcMessage['error']>,
  secret: string | null,
): RpcRefusal {
  const isCallerFault = CALLER_FAULTS.includes(code);
  return new RpcRefusal(`upstream ${code}: ${cleanMessage(message, secret)}`, {
    isBackendAtFault: !isCallerFault,
    wasAnswered: true,
    isFinal: isCallerFault,
    loggedAs: `upstream ${code}`,
  });
}
