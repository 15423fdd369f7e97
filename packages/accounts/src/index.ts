export type { ApiKey, KeyHolder, KeyStore, NewApiKey } from './key-store.ts';
export type { RefreshTokenStore, StoredRefreshToken } from './refresh-token-store.ts';
export type { NewUser, User, UserStore } from './user-store.ts';
