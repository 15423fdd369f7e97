export { createOidcClient, describeRefusal, type OidcClient } from './oidc-client.ts';
export { checkOidcSettings, oidcSettings } from './settings.ts';
