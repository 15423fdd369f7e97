import type { UpstreamErrorFields } from '@model-gateway/contracts';

const NOT_FOUND = 404;
const CODES = /^(?:model_not_found|deploymentnotfound)$/i;
/** From their beginning: further on, a message may quote the request. */
const MESSAGES = [
  /^(?:the )?(?:requested )?(?:models?|api deployment)\b.{0,300}\b(?:not found|not exist|n.t exist)\b/is,
  /^(?:unknown|no such) model\b/i,
  // Anthropic says nothing but the name.
  /^model: \S+$/i,
  // OpenRouter names the model alone; it has other reasons, which are about the request.
  /^no endpoints found for \S+$/i,
  /^no backend available for model\b/i,
];

/** Whether an upstream says with this error that it does not have the model, and not that something else is missing. */
export function isModelMissing({ status, code = '', message = '' }: UpstreamErrorFields): boolean {
  if (status !== NOT_FOUND) return false;
  return CODES.test(code) || MESSAGES.some((form) => form.test(message));
}
