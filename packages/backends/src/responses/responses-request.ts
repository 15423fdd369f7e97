import type { UpstreamTurn } from '@model-gateway/contracts';
import { RESPONSES_API } from '@model-gateway/dialects';

/**
 * The request of a client of the Responses API, as it sent it; undefined for a client of another API. The gateway itself
 * stores responses.
 */
export const responsesBody = (
  { api, own, model }: UpstreamTurn,
  { stream }: { readonly stream: boolean },
): Readonly<Record<string, unknown>> | undefined =>
  api === RESPONSES_API ? { ...own, model, store: false, stream } : undefined;
