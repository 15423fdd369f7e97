import {
  list,
  optional,
  setting,
  startupError,
  text,
  urlWith,
  withDefault,
  type ConfigOf,
} from '@model-gateway/kernel';
import { z } from 'zod';

const SCOPES_DEFAULT = 'openid email profile';

const scopes = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter((scope) => scope !== ''))
  .refine((names) => names.includes('openid'), 'scopes separated by spaces, of which one is openid')
  .transform((names) => names.join(' '));

/** Settings of the sign-in through an OpenID Connect provider. */
export const oidcSettings = {
  oidcIssuer: setting('SERVICE_OIDC_ISSUER', optional(urlWith('http', 'https')), {
    description:
      'The OpenID Connect provider for sign-in: the URL below which it serves `/.well-known/openid-configuration`.',
    defaultText: 'unset: sign-in with passwords only',
  }),
  oidcClientId: setting('SERVICE_OIDC_CLIENT_ID', optional(text()), {
    description: 'The client id of this service at the OpenID Connect provider.',
    defaultText: 'required with SERVICE_OIDC_ISSUER',
  }),
  oidcClientSecret: setting('SERVICE_OIDC_CLIENT_SECRET', optional(text()), {
    description: 'The client secret; unset where the provider has a public client.',
    defaultText: 'unset',
    secret: true,
  }),
  oidcScopes: setting('SERVICE_OIDC_SCOPES', withDefault(scopes, SCOPES_DEFAULT), {
    description: 'The scopes that a sign-in asks for, separated by spaces.',
  }),
  oidcAllowedDomains: setting('SERVICE_OIDC_ALLOWED_DOMAINS', withDefault(list(), []), {
    description:
      'The domains of the email addresses that may sign in through the provider, separated by commas.',
    defaultText: 'all',
  }),
  oidcAdminGroups: setting('SERVICE_OIDC_ADMIN_GROUPS', withDefault(list(), []), {
    description:
      'The groups or roles of the provider whose members become platform admins when they sign in, separated by commas.',
    defaultText: 'none',
  }),
};

/** Throws when the settings do not fit together. */
export function checkOidcSettings({
  oidcIssuer,
  oidcClientId,
}: Pick<ConfigOf<typeof oidcSettings>, 'oidcIssuer' | 'oidcClientId'>): void {
  if (oidcIssuer === undefined || oidcClientId !== undefined) return;
  const problems = 'SERVICE_OIDC_CLIENT_ID is required with SERVICE_OIDC_ISSUER';
  throw startupError('invalid_configuration', { problems });
}
