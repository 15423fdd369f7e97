import type { AuditStore } from '../audit/audit-store.ts';
import type { User, UserStore } from '../users/user-store.ts';

/** A person of an identity provider. A provider never gives a subject to another person, but it may an email address. */
export interface ProviderPerson {
  readonly issuer: string;
  readonly subject: string;
}

/** What a sign-in through the provider needs to know about an account. */
export interface ProviderAccount {
  readonly user: User;
  readonly isActive: boolean;
  readonly passwordHash: string;
  /** To whom it belongs; undefined for a local account that no person of a provider has signed in to. */
  readonly person: ProviderPerson | undefined;
  /** Whether a group of the provider made it an admin. */
  readonly hasProviderRole: boolean;
  /** Whether an admin lets the person of the provider who has its email take it over. */
  readonly isClaimable: boolean;
}

/** Which accounts belong to persons of the identity provider. The searches find deactivated accounts too. */
export interface IdentityStore {
  findByPerson(person: ProviderPerson): Promise<ProviderAccount | undefined>;
  findByEmail(email: string): Promise<ProviderAccount | undefined>;
  /** False when the person has an account, or the account a person, is not active or has another password by now. */
  bind(binding: {
    readonly userId: string;
    readonly person: ProviderPerson;
    readonly passwordHash: string;
    readonly hasProviderRole: boolean;
  }): Promise<boolean>;
  /**
   * Binds the account to another person, and ends what others had of it: password, sign-ins, reset link, keys, memberships,
   * invitations, webhooks, and the role of an admin unless the person has it or no other admin is left. Undefined when no admin
   * allows it any more.
   */
  takeOver(takeover: {
    readonly userId: string;
    readonly person: ProviderPerson;
    readonly nextHash: string;
    readonly isAdmin: boolean;
    readonly now: Date;
  }): Promise<User | undefined>;
  giveRole(userId: string): Promise<void>;
  /** Takes the role away that the provider gave. False for the last active admin, who keeps it. */
  takeRole(userId: string): Promise<boolean>;
}

/** What a sign-in through the provider changes, with its audit entry. */
export interface IdentityStores {
  readonly users: Pick<UserStore, 'create'>;
  readonly identities: IdentityStore;
  readonly audit: Pick<AuditStore, 'append'>;
}

export interface IdentityDatabase extends IdentityStores {
  /** All or nothing. Those of all actors are served in turn. */
  auditedTransaction<Result>(
    actor: string,
    work: (stores: IdentityStores) => Promise<Result>,
  ): Promise<Result>;
}
