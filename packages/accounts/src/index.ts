export { createAccessTokens, type AccessTokens } from './access-tokens.ts';
export { createAccounts, type Accounts, type SignedIn } from './accounts.ts';
export { createKeys, type Keys } from './keys.ts';
export type { ApiKey, KeyHolder, KeyStore, NewApiKey } from './key-store.ts';
export type { RefreshTokenStore, StoredRefreshToken } from './refresh-token-store.ts';
export type { NewUser, User, UserStore } from './user-store.ts';
