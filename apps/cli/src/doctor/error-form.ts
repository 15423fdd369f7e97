import type { CommandContext } from '../command-context.ts';
import { isObject, type RestResponse } from '../service/rest.ts';
import { checked, type CheckResult } from './check.ts';

const NAME = 'errors';
/** What curl accepts. */
const ANY = { accept: '*/*' };
/** How a client of OpenAI's API is known. */
const CLIENT = { ...ANY, 'x-stainless-lang': 'js' };

/** Which form errors on `/v1` have, as two requests without a key find out. */
export async function errorFormCheck({ service }: CommandContext): Promise<CheckResult> {
  const [ofOthers, ofClients] = await Promise.all([
    service.probe('/v1/models', ANY),
    service.probe('/v1/models', CLIENT),
  ]);
  return formResult(ofOthers, ofClients);
}

/** What two refusals of a missing key say: one for any program, one for a client of OpenAI's API. */
export function formResult(
  ofOthers: Pick<RestResponse, 'body'>,
  ofClients: Pick<RestResponse, 'body'>,
): CheckResult {
  if (isObject(ofOthers.body)) return checked(NAME, 'ok', "all clients get OpenAI's form (openai)");
  if (isObject(ofClients.body))
    return checked(
      NAME,
      'ok',
      "clients of OpenAI's API get its form, others the specified one (auto)",
    );
  return checked(
    NAME,
    'warning',
    "all clients get the specified form; those of OpenAI's API lose reasons in it (specified)",
    'Set SERVICE_ERRORS=auto, or send x-service-errors: upstream with each request',
  );
}
