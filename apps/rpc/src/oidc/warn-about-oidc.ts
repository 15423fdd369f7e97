import { isLoopback } from '@model-gateway/http';
import type { Log } from '@model-gateway/kernel';
import type { RpcConfig } from '../config.ts';

/** Logs settings with which others could sign in to an account, or read its tokens. */
export function warnAboutOidc(
  { oidcIssuer, registrationOpen }: Pick<RpcConfig, 'oidcIssuer' | 'registrationOpen'>,
  log: Log,
): void {
  if (oidcIssuer === undefined) return;
  if (registrationOpen) {
    log.warn(
      {},
      'registration is open: anyone can register an email address before its owner signs in through OIDC, who then needs an admin to sign in; set SERVICE_REGISTRATION_OPEN=false',
    );
  }
  const { protocol, hostname } = new URL(oidcIssuer);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    log.warn({}, 'SERVICE_OIDC_ISSUER is not https: the network can read and change sign-ins');
  }
}
