export {
  areClaimsComplete,
  identityOf,
  type ProviderIdentity,
} from './identity/provider-identity.ts';
export type { IdentityStore, ProviderAccount } from './identity/identity-store.ts';
export { addressKey } from './login/address-key.ts';
export { createAccessTokens, type AccessTokens } from './users/access-tokens.ts';
export {
  createAccounts,
  type Accounts,
  type Authenticated,
  type SignedIn,
} from './users/accounts.ts';
export { ACCOUNT_EPOCH_KEY } from './changes/account-change.ts';
export { createAccountChanges } from './changes/account-changes.ts';
export { createAccountEvents, type AccountEvents } from './changes/account-events.ts';
export { createGroupRules, type GroupRules } from './groups/group-rules.ts';
export type { GroupAccess } from './groups/group-access.ts';
export type { Group, GroupPage, GroupRole, GroupStore } from './groups/group-store.ts';
export type {
  Invitation,
  InvitationStore,
  JoinOutcome,
  Membership,
} from './groups/invitation-store.ts';
export { isModelAllowed, modelRefusal, type ModelPolicy } from './groups/is-model-allowed.ts';
export type { Member, MemberStore } from './groups/member-store.ts';
export type { ModelRules, ModelRuleStore } from './groups/model-rule-store.ts';
export { GROUP_REQUIREMENTS, type GroupAction } from './groups/permissions.ts';
export type {
  Conversation,
  ConversationMessage,
  ConversationPage,
  ConversationStore,
  HistoryLimits,
  HistorySize,
  NewMessage,
  MessagePageQuery,
  StoredBytes,
} from './conversations/conversation-store.ts';
export { conversationTitle } from './conversations/conversation-title.ts';
export { createConversations, type Conversations } from './conversations/conversations.ts';
export { relativeAge } from './conversations/relative-age.ts';
export { createKeyCache, type KeyCache, type KeyGrant, type KnownGrant } from './keys/key-cache.ts';
export { createKeyGrants, type KeyPolicies } from './keys/key-grants.ts';
export { createKeys, isKeyForm, type Keys } from './keys/keys.ts';
export type {
  ApiKey,
  FoundKey,
  KeyHolder,
  KeyOwner,
  KeyPage,
  KeyStore,
  NewApiKey,
} from './keys/key-store.ts';
export { NO_KEY_SETTINGS, type KeySettingChanges, type KeySettings } from './keys/key-settings.ts';
export { createLoginLimits } from './login/login-limits.ts';
export { createKnownAddresses, type SignInAddressStore } from './login/known-addresses.ts';
export { createPasswords, type Passwords } from './login/passwords.ts';
export { createRegistrationLimits } from './login/registration-limits.ts';
export type { Provider, ProviderChanges, ProviderStore } from './providers/provider-store.ts';
export { createProviders, type Providers } from './providers/providers.ts';
export type { RefreshTokenStore, Rotation } from './users/refresh-token-store.ts';
export type { SignIn } from './users/sign-in.ts';
export { createSignInEnds, type SignInEnd, type SignInEnds } from './users/sign-in-ends.ts';
export type { User, UserStore } from './users/user-store.ts';
export { createPasswordChanges } from './users/password-changes.ts';
export type { PasswordSet, PasswordStore } from './users/password-store.ts';
export { anchorOf, checkAuditChain } from './audit/audit-chain.ts';
export { auditHash } from './audit/audit-hash.ts';
export { auditRecord } from './audit/audit-record.ts';
export type { AuditActor, AuditEntry, AuditStore, NewAuditEntry } from './audit/audit-store.ts';
export { auditValue } from './audit/audit-values.ts';
export { accountErased, createUserDirectory, type UserDirectory } from './users/user-directory.ts';
export type { AccountView, UserDirectoryStore } from './users/user-directory-store.ts';
export { createCachedUsers, type CachedUsers } from './users/cached-users.ts';
