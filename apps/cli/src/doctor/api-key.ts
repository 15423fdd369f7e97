import type { CommandContext } from '../command-context.ts';
import { processSettings } from '../config.ts';
import { messageOf, type RestResponse } from '../service/rest.ts';
import { checked, type CheckResult } from './check.ts';

const NAME = 'api-key';

/** Whether the API key of the environment works. */
export async function apiKeyCheck({ service, config }: CommandContext): Promise<CheckResult> {
  const { env } = processSettings.apiKey;
  const { apiKey } = config;
  if (apiKey === undefined)
    return checked(NAME, 'skipped', `${env} is not set`, `To try a key, set it: export ${env}=…`);
  return keyResult(env, await service.tryKey(apiKey));
}

/** What the answer to a listing of models says about the key. */
export function keyResult(
  env: string,
  response: Pick<RestResponse, 'status' | 'body'>,
): CheckResult {
  const { status } = response;
  if (status === 200) return checked(NAME, 'ok', `the key in ${env} works`);
  if (status === 401) {
    return checked(
      NAME,
      'failed',
      `the service does not accept the key in ${env}: it is wrong, expired or revoked`,
      'Create another one: gateway keys create "my key"',
    );
  }
  return checked(
    NAME,
    status === 429 ? 'warning' : 'failed',
    `the key in ${env} was refused: ${messageOf(response)}`,
    'The limits of your keys: gateway keys list',
  );
}
