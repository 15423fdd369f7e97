import { rpcCall, waitUntil } from '@model-gateway/testkit';
import { modelOf, UPSTREAM_KINDS } from './scripted-upstreams.ts';

interface Installation {
  readonly restUrl: string;
  readonly rpcUrl: string;
  readonly adminToken: string;
}

/** Removes the routes and aliases that cases gave to the models of the scripted upstreams. */
export async function restoreRouting({ restUrl, rpcUrl, adminToken }: Installation): Promise<void> {
  async function changesOf(model: string) {
    const response = await fetch(`${restUrl}/api/admin/route?model=${model}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    if (response.status !== 200) throw new Error(await response.text());
    const { has_route: hasRoute, resolved } = (await response.json()) as {
      readonly has_route: boolean;
      readonly resolved: string;
    };
    return { hasRoute, isAlias: resolved !== model };
  }
  for (const model of UPSTREAM_KINDS.map(modelOf)) {
    const { hasRoute, isAlias } = await changesOf(model);
    if (isAlias) await rpcCall(rpcUrl, 'aliases.remove', { alias: model }, adminToken);
    // The route of an alias is that of its target.
    if (hasRoute || isAlias) await rpcCall(rpcUrl, 'routes.remove', { model }, adminToken);
    const isRestored = async (): Promise<boolean> => {
      const changes = await changesOf(model);
      return !changes.hasRoute && !changes.isAlias;
    };
    if (hasRoute || isAlias) await waitUntil(isRestored, { what: `the usual route of ${model}` });
  }
}
