import { CliError } from '../cli-error.ts';

/** A secret for a script, which gets it as it is; one that is not plain ASCII without spaces is refused. */
export function printedSecret(secret: unknown, what: string): string {
  if (typeof secret === 'string' && /^[\u0021-\u007e]+$/.test(secret)) return secret;
  throw new CliError(
    'failed',
    `the service returned a ${what} with characters other than printable ASCII`,
    'Check the address of the service (--url, GATEWAY_URL): gateway doctor',
  );
}
