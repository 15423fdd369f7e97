import { describeError, type Channels, type Log, type Subscription } from '@model-gateway/kernel';
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
export interface SharedRouteRules extends RouteRules {
  /** Reads the store again. If that fails, the routes stay as they are; never rejects. */
  reload(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface RouteRulesDependencies {
  readonly store: RouteRuleStore;
  readonly channels: Pick<Channels, 'publish' | 'subscribe'>;
  readonly log: Log;
}

/** For messages that were missed, and for changes made in the database by hand. */
const RELOAD_EVERY_MS = 30_000;

export function createRouteRules(dependencies: RouteRulesDependencies): SharedRouteRules {
  const { store, channels, log } = dependencies;
  let rules: ReadonlyMap<string, RouteRule> = new Map();
  let revision = 0;
  let reads = 0;
  let applied = 0;
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function reload(): Promise<void> {
    reads += 1;
    const read = reads;
    try {
      const listed = await store.list();
      // A read that began later knows more.
      if (read < applied) return;
      applied = read;
      rules = new Map(listed.map((rule) => [rule.model, rule]));
      revision += 1;
    } catch (error) {
      log.warn({ error }, 'reading the routes failed; the known ones stay valid');
    }
  }

  /** Processes that miss the message read the routes a little later. */
  async function changed(model: string): Promise<void> {
    await reload();
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
    reload,
    async start() {
      subscription = await channels.subscribe(ROUTES_CHANNEL, () => void reload());
      timer = setInterval(() => void reload(), RELOAD_EVERY_MS).unref();
      await reload();
    },
    async stop() {
      clearInterval(timer);
      await subscription?.close();
    },
  };
}
