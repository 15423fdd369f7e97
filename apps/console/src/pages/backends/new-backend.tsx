import { useState } from 'react';
import { ROUTING_QUERIES } from '../../api/models.ts';
import { useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Select } from '../../ui/select.tsx';
import { backendOf, emptyDraft, problemsOf, type BackendDraft } from './backend-draft.ts';
import { BackendFields } from './backend-fields.tsx';
import { BACKEND_KINDS, type KindName } from './backend-kinds.ts';
import { TestResult } from './test-result.tsx';

interface NewBackendProps {
  readonly takenNames: readonly string[];
  readonly onDone: (name: string) => void;
  readonly onCancel?: () => void;
}

const CHANGES = ['backends.list', ...ROUTING_QUERIES] as const;

/** Asks for the kind, then for what this kind needs; tests the backend and then registers it. */
export function NewBackend({ takenNames, onDone, onCancel }: NewBackendProps) {
  const { t } = useLanguage();
  const test = useCall('backends.test');
  const add = useCall('backends.add', { changes: CHANGES });
  const [kind, setKind] = useState(() => startKind('external'));
  const [draft, setDraft] = useState(() => emptyDraft(kind.type, kind.url));
  const [isChecked, setChecked] = useState(false);
  const problems = problemsOf(kind, draft, takenNames);
  const isPending = test.isPending || add.isPending;
  const register = (): void => {
    const backend = backendOf(kind, draft);
    add.mutate(backend, { onSuccess: () => onDone(backend.name) });
  };
  const change = (next: BackendDraft): void => {
    test.reset();
    add.reset();
    setDraft(next);
  };
  return (
    <form
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (Object.keys(problems).length > 0 || isPending) return;
        const { name, ...backend } = backendOf(kind, draft);
        test.mutate(
          { name, backend },
          { onSuccess: ({ status }) => (status === 'ok' ? register() : undefined) },
        );
      }}
    >
      <Select
        label={t('backends.kind')}
        value={kind.type}
        choices={BACKEND_KINDS.map(({ type }) => ({
          value: type,
          label: t(`backends.kind.${type}`),
        }))}
        onChange={(type) => {
          const next = startKind(type);
          setKind(next);
          change({ ...draft, name: type, url: next.url, models: '' });
        }}
      />
      <BackendFields
        kind={kind}
        draft={draft}
        // Once it is added, its name is taken: by itself.
        problems={isChecked && !add.isPending && !add.isSuccess ? problems : {}}
        onChange={change}
      />
      {test.isPending ? <p role="status">{t('backends.testing')}</p> : null}
      <ErrorNote error={test.error ?? add.error} />
      {test.data === undefined || test.isPending ? null : <TestResult result={test.data} />}
      <div className="dialog-actions">
        {onCancel === undefined ? null : <Button onClick={onCancel}>{t('action.cancel')}</Button>}
        {test.data?.status === 'failed' ? (
          <Button disabled={isPending} onClick={register}>
            {t('backends.form.anyway')}
          </Button>
        ) : null}
        <Button kind="primary" type="submit" disabled={isPending}>
          {t('backends.form.submit')}
        </Button>
      </div>
    </form>
  );
}

function startKind(type: KindName) {
  const [first] = BACKEND_KINDS;
  const kind = BACKEND_KINDS.find((each) => each.type === type) ?? first;
  if (kind === undefined) throw new Error('there are no kinds of backends');
  return kind;
}
