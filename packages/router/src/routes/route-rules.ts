import {
  createStoreReader,
  describeError,
  type Channels,
  type Log,
  type StoreReader,
} from '@model-gateway/kernel';
import { ROUTES_CHANNEL, type RouteRuleStore } from './route-rule-store.ts';
import type { RouteRule } from './route-rule.ts';

/** The routes: in memory, and updated from the store, so that they are the same on every replica. */
export interface RouteRules {
  /** The route of a model id, or of the target of its alias. */
  find(requested: string, resolved: string): RouteRule | undefined;
  list(): readonly RouteRule[];
  /** Resolves when the route is stored and this process uses it; the others do a moment later. */
  set(rule: RouteRule): Promise<void>;
  /** Returns whether there was one. */
  remove(model: string): Promise<boolean>;
  /** A route was changed in the store: this process reads it again, and the others do a moment later. */
  changed(model: string): Promise<void>;
  /** A number that grows with every change. */
  revision(): number;
}

/** Routes that follow the changes of other replicas. */
export interface SharedRouteRules extends RouteRules, StoreReader {}

interface RouteRulesDependencies {
  readonly store: RouteRuleStore;
  readonly channels: Pick<Channels, 'publish' | 'subscribe'>;
  readonly log: Log;
}

export function createRouteRules(dependencies: RouteRulesDependencies): SharedRouteRules {
  const { store, channels, log } = dependencies;
  let rules: ReadonlyMap<string, RouteRule> = new Map();
  let revision = 0;
  const reader = createStoreReader({
    channels,
    channel: ROUTES_CHANNEL,
    read: () => store.list(),
    onRead(listed) {
      rules = new Map(listed.map((rule) => [rule.model, rule]));
      revision += 1;
    },
    onFailure: (error) =>
      log.warn({ error }, 'reading the routes failed; the known ones stay valid'),
  });

  /** Processes that miss the message read the routes a little later. */
  async function changed(model: string): Promise<void> {
    await reader.reload();
    try {
      await channels.publish(ROUTES_CHANNEL, model);
    } catch (error) {
      log.warn({ model, reason: describeError(error) }, 'publishing a change of a route failed');
    }
  }

  return {
    find(requested, resolved) {
      if (rules.size === 0) return undefined;
      return rules.get(requested) ?? rules.get(resolved);
    },
    list: () => [...rules.values()],
    async set(rule) {
      await store.set(rule);
      await changed(rule.model);
    },
    async remove(model) {
      const wasThere = await store.remove(model);
      await changed(model);
      return wasThere;
    },
    changed,
    revision: () => revision,
    ...reader,
  };
}
