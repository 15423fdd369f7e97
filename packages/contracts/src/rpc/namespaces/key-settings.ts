import { z } from 'zod';
import { passAllFields } from '../../open-object.ts';
import { isStorable } from '../../storable.ts';
import { answerCache } from './answer-cache.ts';
import { BUDGET_PERIODS, modelId } from './records.ts';

const ENTRIES_MAX = 100;
const LIMIT_MAX = 1_000_000_000;
const BUDGET_USD_MAX = 1_000_000_000;
const METADATA_BYTES_MAX = 4_096;
const EXPIRY_MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const forms = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]);
const ADDRESS_CHARS_MAX = 64;

/** An address stands for the network that contains it alone. */
const network = z
  .string()
  .max(ADDRESS_CHARS_MAX)
  .refine(
    (value) => forms.safeParse(value).success,
    'must be an address or a network in CIDR notation',
  );

const limit = z.int().min(1).max(LIMIT_MAX).nullable().optional();

/** What the owner of a key sets: null clears a limit, and what is omitted stays as it is. */
export const keySettings = {
  expires_at: z.iso
    .datetime({ offset: true })
    .refine((time) => Date.parse(time) <= EXPIRY_MAX, 'must be before the year 10000')
    .nullable()
    .optional()
    .meta({ description: 'After this time the key is refused.' }),
  budget_usd: z.number().min(0).max(BUDGET_USD_MAX).nullable().optional(),
  budget_period: z
    .enum(BUDGET_PERIODS)
    .nullable()
    .optional()
    .meta({ description: 'UTC; `month` where a budget has none. Weeks begin on Monday.' }),
  rpm: limit.meta({ description: 'Requests per minute.' }),
  tpm: limit.meta({ description: 'Tokens per minute.' }),
  models: listOf(modelId).meta({
    description: 'Models that may be used; `*` stands for any text.',
  }),
  addresses: listOf(network).meta({
    description: 'Client addresses that may use the key, in CIDR notation.',
  }),
  metadata: passAllFields(
    z
      .record(z.string(), z.unknown())
      .refine(
        isStorableMetadata,
        `must have at most ${METADATA_BYTES_MAX} bytes of JSON, without NUL characters and unpaired surrogates`,
      ),
  )
    .nullable()
    .optional(),
  log_bodies: z
    .boolean()
    .nullable()
    .optional()
    .meta({ description: 'Null: as the service is configured.' }),
  cache: answerCache
    .nullable()
    .optional()
    .meta({ description: 'Equal requests get a stored answer until it is so old.' }),
};

function listOf<Entry extends z.ZodType>(entry: Entry) {
  return z.array(entry).min(1).max(ENTRIES_MAX).nullable().optional();
}

function isStorableMetadata(metadata: Readonly<Record<string, unknown>>): boolean {
  const text = JSON.stringify(metadata);
  return isStorable(metadata) && new TextEncoder().encode(text).length <= METADATA_BYTES_MAX;
}
