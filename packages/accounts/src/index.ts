export { createAccessTokens, type AccessTokens } from './users/access-tokens.ts';
export { createAccounts, type Accounts, type SignedIn } from './users/accounts.ts';
export {
  ACCOUNT_EPOCH_KEY,
  type AccountChange,
  type NumberedChange,
} from './changes/account-change.ts';
export { createAccountChanges, type AccountChanges } from './changes/account-changes.ts';
export { createAccountEvents, type AccountEvents } from './changes/account-events.ts';
export { createGroupRules, type GroupRules } from './groups/group-rules.ts';
export type { GroupAccess } from './groups/group-access.ts';
export type { GroupMembers } from './groups/group-members.ts';
export type { GroupModels } from './groups/group-models.ts';
export type {
  Group,
  GroupChanges,
  GroupRole,
  GroupStore,
  MemberRole,
  NewGroup,
} from './groups/group-store.ts';
export type { Groups } from './groups/groups.ts';
export type {
  Invitation,
  InvitationStore,
  JoinOutcome,
  Membership,
  NewInvitation,
} from './groups/invitation-store.ts';
export type { Invitations } from './groups/invitations.ts';
export {
  isModelAllowed,
  type ModelPolicy,
  type RequestedModel,
} from './groups/is-model-allowed.ts';
export type { Member, MemberChanges, MemberStore } from './groups/member-store.ts';
export type { ModelRules, ModelRuleStore } from './groups/model-rule-store.ts';
export { GROUP_REQUIREMENTS, type GroupAction } from './groups/permissions.ts';
export type {
  Conversation,
  ConversationMessage,
  ConversationStore,
  HistoryLimits,
  NewMessage,
} from './conversations/conversation-store.ts';
export { conversationTitle } from './conversations/conversation-title.ts';
export { createConversations, type Conversations } from './conversations/conversations.ts';
export { relativeAge } from './conversations/relative-age.ts';
export { createKeyCache, type KeyCache, type KeyGrant, type KnownGrant } from './keys/key-cache.ts';
export { createKeyGrants, type KeyGrants } from './keys/key-grants.ts';
export { createKeys, isKeyForm, type Keys } from './keys/keys.ts';
export type {
  ApiKey,
  FoundKey,
  HolderLimits,
  KeyHolder,
  KeyStore,
  NewApiKey,
} from './keys/key-store.ts';
export { createLoginLimits, type LoginLimits } from './login/login-limits.ts';
export type { Memberships } from './keys/memberships.ts';
export { createPasswords, type Passwords } from './login/passwords.ts';
export type {
  NewProvider,
  Provider,
  ProviderChanges,
  ProviderStore,
} from './providers/provider-store.ts';
export { createProviders, type Providers } from './providers/providers.ts';
export type {
  RefreshTokenStore,
  Rotation,
  StoredRefreshToken,
} from './users/refresh-token-store.ts';
export type { NewUser, User, UserStore } from './users/user-store.ts';
export { createRememberedUsers } from './users/remembered-users.ts';
