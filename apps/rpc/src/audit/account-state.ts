import type { DatabaseStores } from '@model-gateway/db';

/** What the audit log shows of an account: nothing that names the person. */
export async function accountState(userId: string, stores: DatabaseStores) {
  const account = await stores.userDirectory.find(userId);
  if (account === undefined) return undefined;
  const { isAdmin, isActive, tier, isProviderBound, isClaimable, erasedAt } = account;
  return {
    is_admin: isAdmin,
    active: isActive,
    tier,
    provider_bound: isProviderBound,
    provider_claim: isClaimable,
    erased: erasedAt !== null,
  };
}
