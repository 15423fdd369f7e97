import type { ModelPolicy } from '@model-gateway/accounts';
import type { PriceBook } from '@model-gateway/billing';
import type { ModelEntry, ModelList } from '@model-gateway/contracts';
import { isServable } from '@model-gateway/inference';
import { matchModel, type Router } from '@model-gateway/router';
import { modelEntries } from './model-entries.ts';
import type { ListedBackend } from './served-models.ts';

/** The models that a reader may see. */
export interface ModelListing {
  /** All of them, as JSON text. */
  text(policy: ModelPolicy | null): string;
  entries(policy: ModelPolicy | null): readonly ModelEntry[];
  find(policy: ModelPolicy | null, id: string): ModelEntry | undefined;
}

interface ListingDependencies {
  readonly router: Pick<Router, 'list' | 'unlisted' | 'aliases' | 'routes' | 'targetsOf'>;
  readonly prices: Pick<PriceBook, 'priceOf' | 'revision'>;
  readonly quickStartModels: boolean;
}

/** The states that a rendered listing was made from. */
interface Source {
  readonly backends: readonly ListedBackend[];
  readonly unlisted: readonly ListedBackend[];
  readonly aliases: number;
  readonly routes: number;
  readonly prices: number;
}

interface Rendered {
  readonly source: Source;
  readonly data: readonly ModelEntry[];
  /** The same with the models of unlisted backends, which answer as well. */
  readonly answering: readonly ModelEntry[];
  readonly forAll: string;
  /** By the rules of a group; an entry is collected when the group's keys are looked up again. */
  readonly forGroups: WeakMap<ModelPolicy, string>;
}

/** Renders the text once per state of the backends, aliases and prices, not once per request. */
export function createModelListing({
  router,
  prices,
  quickStartModels: suggests,
}: ListingDependencies): ModelListing {
  let rendered: Rendered | undefined;

  function current(): Rendered {
    const source = {
      backends: router.list(),
      unlisted: router.unlisted(),
      aliases: router.aliases.revision(),
      routes: router.routes.revision(),
      prices: prices.revision(),
    };
    if (rendered !== undefined && isSame(rendered.source, source)) return rendered;
    const { backends, unlisted } = source;
    const aliases = router.aliases.list();
    const routes = router.routes.list();
    const { priceOf } = prices;
    const facts = { aliases, routes, priceOf, suggests };
    const data = modelEntries({ ...facts, backends, unlisted });
    const answering = modelEntries({
      ...facts,
      backends: [...backends, ...unlisted],
      unlisted: [],
    });
    rendered = { source, data, answering, forAll: textOf(data), forGroups: new WeakMap() };
    return rendered;
  }

  const isVisible = (policy: ModelPolicy | null, { id, alias_of = id }: ModelEntry): boolean =>
    policy === null || isServable(policy, router, { requested: id, aliasTarget: alias_of });

  const visible = ({ data }: Rendered, policy: ModelPolicy | null): readonly ModelEntry[] =>
    policy === null ? data : data.filter((entry) => isVisible(policy, entry));

  return {
    entries: (policy) => visible(current(), policy),
    text(policy) {
      const source = current();
      const { forAll, forGroups } = source;
      if (policy === null) return forAll;
      const known = forGroups.get(policy);
      if (known !== undefined) return known;
      const text = textOf(visible(source, policy));
      forGroups.set(policy, text);
      return text;
    },
    find(policy, id) {
      const { answering } = current();
      const known = matchModel(id, new Set(answering.map((entry) => entry.id)));
      const entry = answering.find((candidate) => candidate.id === known);
      return entry !== undefined && isVisible(policy, entry) ? entry : undefined;
    },
  };
}

const textOf = (data: readonly ModelEntry[]): string =>
  JSON.stringify({ object: 'list', data: [...data] } satisfies ModelList);

const isSame = (before: Source, now: Source): boolean =>
  before.aliases === now.aliases &&
  before.routes === now.routes &&
  before.prices === now.prices &&
  areSame(before.backends, now.backends) &&
  areSame(before.unlisted, now.unlisted);

function areSame(before: readonly ListedBackend[], now: readonly ListedBackend[]): boolean {
  return (
    before.length === now.length &&
    now.every((entry, index) => {
      const other = before[index];
      return (
        other?.backend === entry.backend &&
        other.isRoutable === entry.isRoutable &&
        other.models === entry.models &&
        other.contextLengths === entry.contextLengths &&
        other.registeredAt === entry.registeredAt
      );
    })
  );
}
