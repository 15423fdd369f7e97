import { createAccessTokens, createAccounts, createKeys } from '@model-gateway/accounts';
import type { AppContext } from '@model-gateway/host';
import type { RpcConfig } from './config.ts';
import type { MethodDependencies } from './methods/index.ts';

/** Builds the rules that the methods speak to, on the stores of this process. */
export function createServices(config: RpcConfig, context: AppContext): MethodDependencies {
  const { database, clock } = context;
  const accounts = createAccounts({
    users: database.users,
    refreshTokens: database.refreshTokens,
    accessTokens: createAccessTokens({
      secret: context.jwtSecret,
      expiresInSecs: config.accessTokenTtlSecs,
      clock,
    }),
    clock,
    registrationOpen: config.registrationOpen,
    refreshTokenTtlSecs: config.refreshTokenTtlSecs,
  });
  return { accounts, keys: createKeys(database.keys), usage: database.usage };
}
