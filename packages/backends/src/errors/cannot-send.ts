import { numberOf } from '@model-gateway/kernel';
import { UnsupportedByBackend } from '@model-gateway/router';

/** A request with a field that this kind of backend cannot express. Another backend of the model may take it. */
export const cannotSend = (kind: string, field: string, why: string): UnsupportedByBackend =>
  new UnsupportedByBackend('invalid_request', `${field}: backends of the kind '${kind}' ${why}`);

/** Refuses several answers, where a kind gives one. */
export function assertOneAnswer(kind: string, n: unknown): void {
  if ((numberOf(n) ?? 1) > 1) throw cannotSend(kind, 'n', 'give one answer');
}
