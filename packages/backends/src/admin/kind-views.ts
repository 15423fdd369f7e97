import { backendKindSchema } from '@model-gateway/contracts';
import { CAPABILITIES } from '@model-gateway/router';
import { z } from 'zod';
import type { BackendKindDefinition } from '../kind-definition.ts';
import { KINDS } from '../kinds.ts';
import { urlPrefixes } from '../transport/upstream-url.ts';

type KindView = z.input<typeof backendKindSchema>;

const optionsSchema = backendKindSchema.shape.options;

/** The kinds of backends in the form of the API, those that operators register first. */
export const kindViews = (): KindView[] => KINDS.map(kindView);

function kindView(kind: BackendKindDefinition): KindView {
  const { name, aliases = [], isInternal = false, form, facts } = kind;
  return {
    name,
    aliases: [...aliases],
    is_internal: isInternal,
    title: form.title,
    purpose: form.purpose,
    example_url: form.exampleUrl,
    url_prefixes: urlPrefixes(kind).toSorted((one, other) => plain(one) - plain(other)),
    api_key: { title: form.apiKey.title, is_usual: form.apiKey.isUsual },
    needs_models: form.needsModels ?? false,
    capabilities: CAPABILITIES.filter((capability) => kind.capabilities.has(capability)),
    offered_capabilities: [...(form.capabilities ?? [])],
    options: optionsSchema.parse(z.toJSONSchema(kind.options, { io: 'input' })),
    facts: {
      is_free: facts.isFree ?? false,
      lists_all: facts.listsAll ?? false,
      takes_token_ids: facts.takesTokenIds ?? false,
      is_bounded: facts.isBounded ?? false,
    },
  };
}

const plain = (prefix: string): number => Number(!/^(?:https|wss):/.test(prefix));
