import { emailSchema, ServiceError } from '@model-gateway/contracts';
import type { ProviderPerson } from './identity-store.ts';

/** A user as an identity provider knows them. */
export interface ProviderIdentity {
  readonly person: ProviderPerson;
  readonly email: string;
  readonly name: string;
  /** A group of the provider makes the user a platform admin. */
  readonly isAdmin: boolean;
}

/** Who may sign in through the provider, and who becomes an admin. */
export interface IdentityRules {
  /** Domains of email addresses; empty allows all. */
  readonly allowedDomains: readonly string[];
  readonly adminGroups: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

const NAME_CHARS_MAX = 128;
const ISSUER_CHARS_MAX = 1000;
/** The longest subject that OpenID Connect allows. */
const SUBJECT_CHARS_MAX = 255;

/** The identity that the claims describe. Rejects claims without a verified email address of an allowed domain. */
export function identityOf(claims: Claims, rules: IdentityRules): ProviderIdentity {
  const person = personOf(claims);
  const { data: email } = emailSchema.safeParse(claims['email']);
  if (email === undefined) {
    throw refused('the identity provider did not send an email address; ask for the scope `email`');
  }
  if (!isVerified(claims)) {
    throw refused(`the identity provider has not verified the email address ${email}`);
  }
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const { allowedDomains } = rules;
  if (allowedDomains.length > 0 && !allowedDomains.some((name) => isDomain(name, domain))) {
    throw refused(`email addresses of ${domain} may not sign in here`);
  }
  return { person, email, name: nameOf(claims), isAdmin: isInAdminGroup(claims, rules) };
}

function personOf({ iss: issuer, sub: subject }: Claims): ProviderPerson {
  if (!isName(issuer, ISSUER_CHARS_MAX) || !isName(subject, SUBJECT_CHARS_MAX)) {
    throw refused('the identity provider did not say which person signs in');
  }
  return { issuer, subject };
}

/** Neither is normalized: two that differ in anything are of two persons. OpenID Connect allows only ASCII in both. */
const isName = (claim: unknown, charsMax: number): claim is string =>
  typeof claim === 'string' && claim.length <= charsMax && /^[\u0020-\u007e]+$/.test(claim);

/** Whether the claims contain everything that the rules need, so that the user info is not needed. */
export function areClaimsComplete(claims: Claims, { adminGroups }: IdentityRules): boolean {
  const hasGroups = adminGroups.length === 0 || groupsOf(claims).length > 0;
  return claims['email'] !== undefined && isVerified(claims) && hasGroups;
}

/** Some providers send text. Microsoft Entra has a claim of its own, which says that the domain owner was verified. */
function isVerified(claims: Claims): boolean {
  const isTrue = (claim: unknown): boolean => claim === true || claim === 'true';
  const edov = claims['xms_edov'];
  return isTrue(claims['email_verified']) || isTrue(edov) || edov === 1 || edov === '1';
}

const isDomain = (allowed: string, domain: string): boolean =>
  allowed.toLowerCase().replace(/^@/, '') === domain;

const isInAdminGroup = (claims: Claims, { adminGroups }: IdentityRules): boolean =>
  groupsOf(claims).some((group) => adminGroups.includes(group));

/** Keycloak and others send `groups`, Microsoft Entra sends app roles as `roles`. */
function groupsOf(claims: Claims): readonly string[] {
  return [claims['groups'], claims['roles']]
    .flat()
    .filter((group): group is string => typeof group === 'string');
}

function nameOf(claims: Claims): string {
  const name = claims['name'] ?? claims['preferred_username'];
  return typeof name === 'string'
    ? name.replaceAll('\u0000', '').trim().slice(0, NAME_CHARS_MAX)
    : '';
}

const refused = (reason: string): ServiceError => new ServiceError('sign_in_refused', reason);
