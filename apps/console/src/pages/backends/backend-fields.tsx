import { useLanguage } from '../../preferences/language.tsx';
import { useServedText } from '../../preferences/served-text.ts';
import { TextField } from '../../ui/field.tsx';
import type { TextKey } from '../../texts/texts.ts';
import type { BackendDraft, problemsOf } from './backend-draft.ts';
import { MoreFields } from './more-fields.tsx';
import type { BackendKind } from './kinds.ts';

export interface BackendFieldsProps {
  readonly kind: BackendKind;
  readonly draft: BackendDraft;
  readonly problems: ReturnType<typeof problemsOf>;
  /** Where a backend is changed: its name stays, and so does its key unless another is given. */
  readonly keyHint?: TextKey;
  readonly isNameFixed?: boolean;
  /** How many keys are stored. */
  readonly keyCount?: number;
  readonly onChange: (draft: BackendDraft) => void;
}

/** The fields that a kind of backend has. */
export function BackendFields(props: BackendFieldsProps) {
  const { kind, draft, problems, keyHint, isNameFixed = false, onChange } = props;
  const { t } = useLanguage();
  const tServed = useServedText();
  const problemOf = (field: keyof typeof problems): string | undefined => {
    const problem = problems[field];
    return problem === undefined ? undefined : t(...problem);
  };
  return (
    <>
      {isNameFixed ? null : (
        <TextField
          label={t('backends.form.name')}
          hint={t('backends.form.name.hint')}
          value={draft.name}
          onValueChange={(name) => onChange({ ...draft, name })}
          problem={problemOf('name')}
          autoComplete="off"
        />
      )}
      <TextField
        label={t('backends.address')}
        type="url"
        value={draft.url}
        onValueChange={(url) => onChange({ ...draft, url })}
        problem={problemOf('url')}
        autoComplete="off"
      />
      {kind.api_key.is_usual ? (
        <TextField
          label={tServed(kind.api_key.title)}
          type="password"
          hint={t(keyHint ?? 'backends.form.key.hint')}
          value={draft.apiKey}
          onValueChange={(apiKey) => onChange({ ...draft, apiKey })}
          autoComplete="new-password"
        />
      ) : null}
      <TextField
        label={t('backends.form.models')}
        hint={t(kind.needs_models ? 'backends.form.models.needed' : 'backends.form.models.hint')}
        render={<textarea rows={3} />}
        value={draft.models}
        onValueChange={(models) => onChange({ ...draft, models })}
        problem={problemOf('models')}
      />
      <MoreFields {...props} problemOf={problemOf} />
    </>
  );
}
