import { aliasRequestSchema, backendAdditionSchema, rpcMethods } from '@model-gateway/contracts';
import { sha256Hex } from '@model-gateway/kernel';
import { z } from 'zod';

/** As the service generates them: at least 24 bytes in base64. */
const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/;
const WEBHOOK_HASH_CHARS = 8;

const priceSchema = rpcMethods['billing.pricing.set'].params.refine(
  (price) => price.input_per_million !== null,
  {
    path: ['input_per_million'],
    message: 'must be a price; to have no price, leave the entry out',
  },
);

const webhookSchema = rpcMethods['webhooks.create'].params.extend({
  secret: z
    .string()
    .regex(SIGNING_SECRET, 'must be whsec_ and at least 24 bytes in base64')
    .optional()
    .describe('Signs the deliveries; without it, a secret is generated that is never shown.'),
});

/** What an entry of each section is: what the call takes that would make the same. */
export const SECTION_SCHEMAS = {
  backends: backendAdditionSchema,
  aliases: aliasRequestSchema,
  routes: rpcMethods['routes.set'].params,
  tiers: rpcMethods['billing.tiers.set'].params,
  prices: priceSchema,
  webhooks: webhookSchema,
} as const;

export type Section = keyof typeof SECTION_SCHEMAS;
export type SectionValue<Name extends Section> = z.output<(typeof SECTION_SCHEMAS)[Name]>;

/** In the order in which they are applied. */
export const SECTIONS = [
  'backends',
  'aliases',
  'routes',
  'tiers',
  'prices',
  'webhooks',
] as const satisfies readonly Section[];

/** What the name of an entry is made of. */
interface Names {
  readonly backends: Pick<SectionValue<'backends'>, 'name'>;
  readonly aliases: Pick<SectionValue<'aliases'>, 'alias'>;
  readonly routes: Pick<SectionValue<'routes'>, 'model'>;
  readonly tiers: Pick<SectionValue<'tiers'>, 'name'>;
  readonly prices: Pick<SectionValue<'prices'>, 'pattern' | 'backend'>;
  readonly webhooks: Pick<SectionValue<'webhooks'>, 'url' | 'group_id'>;
}

type NameOf = { readonly [Name in Section]: (value: Names[Name]) => string };

/** The name of an entry, which is unique in its section. It contains no secret. */
export const ENTRY_NAMES: NameOf = {
  backends: ({ name }) => name,
  aliases: ({ alias }) => alias,
  routes: ({ model }) => model,
  tiers: ({ name }) => name,
  prices: ({ pattern, backend }) =>
    backend === undefined ? pattern : `${pattern} on backend ${backend}`,
  // The path of a URL can be a secret of the receiver.
  webhooks: ({ url, group_id: groupId }) =>
    `${new URL(url).origin} (${sha256Hex(JSON.stringify([url, groupId ?? null])).slice(0, WEBHOOK_HASH_CHARS)})`,
};

/** One entry of a configuration file. */
export type ConfigEntry = { readonly [Name in Section]: EntryOf<Name> }[Section];

export interface EntryOf<Name extends Section> {
  readonly section: Name;
  readonly name: string;
  /** Of the value, with what was substituted. */
  readonly hash: string;
  readonly value: SectionValue<Name>;
}
