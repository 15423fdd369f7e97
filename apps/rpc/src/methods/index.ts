import type { Accounts, Keys } from '@model-gateway/accounts';
import type { UsageStore } from '@model-gateway/billing';
import type { Handlers } from '../protocol/handlers.ts';
import { createAuthMethods } from './auth.ts';
import { createKeysMethods } from './keys.ts';
import { createNotAvailableYetMethods } from './not-available-yet.ts';
import { createUsageMethods } from './usage.ts';

/** The rules behind the methods. */
export interface MethodDependencies {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly usage: UsageStore;
}

/** Every method of the plane, from one file per namespace. */
export function createMethods({ accounts, keys, usage }: MethodDependencies): Handlers {
  return {
    ...createNotAvailableYetMethods(),
    ...createAuthMethods(accounts),
    ...createKeysMethods(keys),
    ...createUsageMethods(usage),
  };
}
