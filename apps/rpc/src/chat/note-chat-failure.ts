import { ServiceError } from '@model-gateway/contracts';
import { REST_ERRORS } from '@model-gateway/http';
import type { Caller, Meter, RequestTrace } from '@model-gateway/inference';

/** A turn as far as the request log needs it. */
interface FailedTurn {
  readonly caller: Caller;
  readonly surface: string;
  readonly request: { readonly model: string };
  readonly refId: string | null;
  readonly trace?: RequestTrace | undefined;
  readonly startedAt: number;
}

/** Notes a turn that failed, with the status that the same failure has over HTTP. */
export function noteChatFailure(
  meter: Pick<Meter, 'failed'>,
  { caller, surface, request: { model }, refId, trace, startedAt }: FailedTurn,
  error: unknown,
): void {
  const known = error instanceof ServiceError ? error : undefined;
  const { status, code } = REST_ERRORS[known?.code ?? 'internal_error'];
  const message = known?.message ?? 'internal error';
  meter.failed({ caller, surface, model, refId, trace, startedAt, status, code, message });
}
