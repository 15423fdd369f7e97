import type { Adapter, AdapterPayload } from 'oidc-provider';

/** What a provider stores; it survives a change of the provider's configuration. */
export function createProviderStore(): (model: string) => Adapter {
  const rows = new Map<string, AdapterPayload>();
  return (model) => {
    const at = (id: string): string => `${model} ${id}`;
    const findBy = async (name: 'uid' | 'userCode', value: string) =>
      [...rows].find(([key, row]) => key.startsWith(`${model} `) && row[name] === value)?.[1];
    return {
      upsert: async (id, payload) => void rows.set(at(id), { ...payload }),
      find: async (id) => rows.get(at(id)),
      findByUid: (uid) => findBy('uid', uid),
      findByUserCode: (userCode) => findBy('userCode', userCode),
      consume: async (id) => {
        const row = rows.get(at(id));
        if (row !== undefined) row.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id) => void rows.delete(at(id)),
      revokeByGrantId: async (grantId) => {
        for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key);
      },
    };
  };
}
