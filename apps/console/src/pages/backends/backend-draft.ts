import type { RpcInput, RpcResult } from '@model-gateway/contracts';
import type { TextKey, TextValues } from '../../texts/texts.ts';
import { dialectsOf, takesKeys, type BackendKind } from './kinds.ts';

type Addition = RpcInput<'backends.add'>;
type Capability = NonNullable<Addition['capabilities']>[number];
type Dialect = NonNullable<Addition['dialects']>[number];

/** What is in the fields of the form. */
export interface BackendDraft {
  readonly name: string;
  readonly url: string;
  readonly apiKey: string;
  /** One model per line. */
  readonly models: string;
  /** Further keys, one per line. */
  readonly moreKeys: string;
  /** The header of the key; empty for the usual one. */
  readonly authHeader: string;
  /** None are those of the kind. */
  readonly capabilities: readonly Capability[];
  readonly dialects: readonly Dialect[];
  /** What it may be sent, as entered; empty does not limit. */
  readonly limits: Readonly<Record<LimitName, string>>;
}

/** The limits of a backend, in the order in which they are shown. */
export const LIMITS = ['rpm', 'tpm', 'concurrency', 'tokens_per_day'] as const;
export type LimitName = (typeof LIMITS)[number];

const NO_LIMITS = { rpm: '', tpm: '', concurrency: '', tokens_per_day: '' };

/** The fields of a new backend. */
export const emptyDraft = (name: string, url: string): BackendDraft => ({
  name,
  url,
  apiKey: '',
  models: '',
  moreKeys: '',
  authHeader: '',
  capabilities: [],
  dialects: [],
  limits: NO_LIMITS,
});

type Registered = RpcResult<'backends.list'>[number];

/** The fields of a registered backend; its keys are not known. */
export const draftOf = (backend: Registered): BackendDraft => ({
  ...emptyDraft(backend.name, backend.url),
  models: backend.static_models.join('\n'),
  authHeader: backend.auth_header ?? '',
  capabilities: backend.capabilities,
  dialects: backend.dialects,
  limits: {
    rpm: String(backend.limits?.rpm ?? ''),
    tpm: String(backend.limits?.tpm ?? ''),
    concurrency: String(backend.limits?.concurrency ?? ''),
    tokens_per_day: String(backend.limits?.tokens_per_day ?? ''),
  },
});

type Field = Exclude<keyof BackendDraft, 'limits'> | LimitName;
type Problems = Partial<Record<Field, readonly [TextKey, TextValues?]>>;

const NAME_CHARS_MAX = 64;
const KEYS_MAX = 32;
const LIMIT_MAX = 1_000_000_000;
/** A header name, and optionally a colon and what comes before the key. */
const AUTH_HEADER = /^[\w!#$%&'*+.^`|~-]{1,64}(?:: ?[\x21-\x7e]{1,64})?$/;

/** The lines of a text, each once; spaces around them and empty lines do not count. */
export const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

/** What is wrong with the fields, before anything is sent. */
export function problemsOf(
  kind: BackendKind,
  draft: BackendDraft,
  takenNames: readonly string[] = [],
): Problems {
  const name = draft.name.trim();
  const isNamed = name !== '' && name.length <= NAME_CHARS_MAX;
  return {
    ...(isNamed ? {} : { name: ['backends.form.check.name'] as const }),
    ...(takenNames.includes(name) ? { name: ['backends.form.check.taken'] as const } : {}),
    ...(isAddress(kind, draft.url.trim())
      ? {}
      : { url: ['backends.form.check.url', { schemes: kind.url_prefixes.join(', ') }] as const }),
    ...(kind.needs_models && linesOf(draft.models).length === 0
      ? { models: ['backends.form.check.models'] as const }
      : {}),
    ...(takesKeys(kind) && keysOf(draft).length > KEYS_MAX
      ? { moreKeys: ['backends.form.check.keys', { max: KEYS_MAX }] as const }
      : {}),
    ...(takesKeys(kind) &&
    draft.authHeader.trim() !== '' &&
    !AUTH_HEADER.test(draft.authHeader.trim())
      ? { authHeader: ['backends.form.check.header'] as const }
      : {}),
    ...Object.fromEntries(
      LIMITS.filter((limit) => !isLimit(draft.limits[limit])).map((limit) => [
        limit,
        ['backends.form.check.limit', { max: LIMIT_MAX }] as const,
      ]),
    ),
  };
}

function isLimit(text: string): boolean {
  if (text.trim() === '') return true;
  const limit = Number(text);
  return Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX;
}

const keysOf = ({ apiKey, moreKeys }: BackendDraft): string[] => linesOf(`${apiKey}\n${moreKeys}`);

/** The limits that were entered; null without any. */
function limitsOf({ limits }: BackendDraft): Addition['limits'] {
  const given = LIMITS.filter((name) => limits[name].trim() !== '');
  if (given.length === 0) return null;
  return Object.fromEntries(given.map((name) => [name, Number(limits[name])]));
}

const isAddress = ({ url_prefixes: prefixes }: BackendKind, text: string): boolean =>
  prefixes.some((prefix) => text.startsWith(prefix) && text.length > prefix.length) &&
  URL.canParse(text);

/** The backend that the fields describe. What its kind does not have is left out. */
export function backendOf(kind: BackendKind, draft: BackendDraft): Addition {
  const models = linesOf(draft.models);
  const authHeader = draft.authHeader.trim();
  const capabilities = draft.capabilities.filter((one) => kind.offered_capabilities.includes(one));
  const dialects = draft.dialects.filter((one) => dialectsOf(kind).includes(one));
  const limits = limitsOf(draft);
  return {
    name: draft.name.trim(),
    type: kind.name,
    url: draft.url.trim(),
    ...keyFields(kind, draft),
    ...(models.length === 0 ? {} : { models }),
    ...(takesKeys(kind) && authHeader !== '' ? { auth_header: authHeader } : {}),
    ...(capabilities.length === 0 ? {} : { capabilities }),
    ...(dialects.length === 0 ? {} : { dialects }),
    ...(limits === null ? {} : { limits }),
  };
}

function keyFields(kind: BackendKind, draft: BackendDraft): Pick<Addition, 'api_key' | 'api_keys'> {
  const keys = takesKeys(kind) ? keysOf(draft) : linesOf(draft.apiKey);
  const [first] = keys;
  if (!kind.api_key.is_usual || first === undefined) return {};
  return keys.length === 1 ? { api_key: first } : { api_keys: keys };
}

/** The changes of a registered backend; a key that was not entered stays. */
export function changeOf(
  kind: BackendKind,
  before: BackendDraft,
  draft: BackendDraft,
): Omit<RpcInput<'backends.update'>, 'name'> {
  const {
    capabilities = null,
    dialects = null,
    auth_header: header = null,
  } = backendOf(kind, draft);
  const isSame = (field: 'capabilities' | 'dialects' | 'limits' | 'authHeader'): boolean =>
    JSON.stringify(before[field]) === JSON.stringify(draft[field]);
  return {
    url: draft.url.trim(),
    models: linesOf(draft.models),
    ...keyFields(kind, draft),
    ...(isSame('authHeader') ? {} : { auth_header: header }),
    ...(isSame('capabilities') ? {} : { capabilities }),
    ...(isSame('dialects') ? {} : { dialects }),
    ...(isSame('limits') ? {} : { limits: limitsOf(draft) ?? null }),
  };
}
