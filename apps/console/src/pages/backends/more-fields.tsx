import { useLanguage } from '../../preferences/language.tsx';
import { useServedText } from '../../preferences/served-text.ts';
import { CheckList } from '../../ui/check-list.tsx';
import { TextField } from '../../ui/field.tsx';
import { LIMITS, type BackendDraft, type LimitName } from './backend-draft.ts';
import { takesKeys, type BackendKind } from './kinds.ts';

interface MoreFieldsProps {
  readonly kind: BackendKind;
  readonly draft: BackendDraft;
  /** How many keys are stored. */
  readonly keyCount?: number;
  readonly problemOf: (field: LimitName | 'moreKeys' | 'authHeader') => string | undefined;
  readonly onChange: (draft: BackendDraft) => void;
}

/** What most backends do without: limits, further keys, capabilities and dialects. Open where something is wrong. */
export function MoreFields(props: MoreFieldsProps) {
  const { kind, draft, keyCount = 0, problemOf, onChange } = props;
  const { t } = useLanguage();
  const tServed = useServedText();
  const { auth_header: header, dialects: apis } = kind.options.properties;
  const hasProblem = [...LIMITS, 'moreKeys' as const, 'authHeader' as const].some(
    (field) => problemOf(field) !== undefined,
  );
  return (
    <details className="details" {...(hasProblem ? { open: true } : {})}>
      <summary>{t('backends.form.more')}</summary>
      <div className="form">
        <div className="form-pair">
          {LIMITS.map((name) => (
            <TextField
              key={name}
              label={t(`backends.limit.${name}`)}
              inputMode="numeric"
              value={draft.limits[name]}
              onValueChange={(text) =>
                onChange({ ...draft, limits: { ...draft.limits, [name]: text } })
              }
              problem={problemOf(name)}
              autoComplete="off"
            />
          ))}
        </div>
        <p className="field-hint">{t('backends.limits.hint')}</p>
        {takesKeys(kind) ? (
          <TextField
            label={t('backends.form.more_keys')}
            hint={t(
              keyCount > 1 ? 'backends.form.more_keys.replace' : 'backends.form.more_keys.hint',
              { count: keyCount },
            )}
            render={<textarea rows={2} />}
            value={draft.moreKeys}
            onValueChange={(moreKeys) => onChange({ ...draft, moreKeys })}
            problem={problemOf('moreKeys')}
            autoComplete="off"
            spellCheck={false}
          />
        ) : null}
        {header === undefined ? null : (
          <TextField
            label={tServed(header.title)}
            hint={tServed(header.description)}
            value={draft.authHeader}
            onValueChange={(authHeader) => onChange({ ...draft, authHeader })}
            problem={problemOf('authHeader')}
            autoComplete="off"
          />
        )}
        {kind.offered_capabilities.length === 0 ? null : (
          <CheckList
            label={t('backends.capabilities')}
            hint={t('backends.capabilities.hint')}
            choices={kind.offered_capabilities.map((value) => ({
              value,
              label: t(`backends.capability.${value}`),
            }))}
            chosen={draft.capabilities}
            onChange={(capabilities) => onChange({ ...draft, capabilities })}
          />
        )}
        {apis === undefined ? null : (
          <CheckList
            label={tServed(apis.title)}
            hint={tServed(apis.description)}
            choices={apis.items.enum.map((value) => ({
              value,
              label: t(`backends.dialect.${value}`),
            }))}
            chosen={draft.dialects}
            onChange={(dialects) => onChange({ ...draft, dialects })}
          />
        )}
      </div>
    </details>
  );
}
