export {
  createOidcClient,
  describeRefusal,
  type OidcClient,
  type SignInProof,
} from './oidc-client.ts';
export { checkOidcSettings, oidcSettings } from './settings.ts';
