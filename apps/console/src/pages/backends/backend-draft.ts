import type { RpcInput } from '@model-gateway/contracts';
import type { TextKey, TextValues } from '../../texts/texts.ts';
import type { BackendKind } from './backend-kinds.ts';

/** What is in the fields of the form. */
export interface BackendDraft {
  readonly name: string;
  readonly url: string;
  readonly apiKey: string;
  /** One model per line. */
  readonly models: string;
}

type Field = keyof BackendDraft;
type Problems = Partial<Record<Field, readonly [TextKey, TextValues?]>>;

const NAME_CHARS_MAX = 64;

/** The models of a text, one per line; spaces around them and empty lines do not count. */
export const modelsOf = (text: string): string[] => [
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
      : { url: ['backends.form.check.url', { schemes: kind.schemes.join(', ') }] as const }),
    ...(kind.needsModels && modelsOf(draft.models).length === 0
      ? { models: ['backends.form.check.models'] as const }
      : {}),
  };
}

const isAddress = ({ schemes }: BackendKind, text: string): boolean =>
  schemes.some((scheme) => text.startsWith(scheme) && text.length > scheme.length) &&
  URL.canParse(text);

/** The backend that the fields describe. */
export function backendOf(
  { type, hasKey }: BackendKind,
  draft: BackendDraft,
): RpcInput<'backends.add'> {
  const models = modelsOf(draft.models);
  const apiKey = draft.apiKey.trim();
  return {
    name: draft.name.trim(),
    type,
    url: draft.url.trim(),
    ...(hasKey && apiKey !== '' ? { api_key: apiKey } : {}),
    ...(models.length === 0 ? {} : { models }),
  };
}

/** The changes of a registered backend; a key that was not entered stays. */
export function changeOf(
  kind: BackendKind,
  draft: BackendDraft,
): Omit<RpcInput<'backends.update'>, 'name'> {
  const { url, api_key } = backendOf(kind, draft);
  return {
    url,
    models: modelsOf(draft.models),
    ...(api_key === undefined ? {} : { api_key }),
  };
}
