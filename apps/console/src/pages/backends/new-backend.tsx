import './new-backend.css';
import { useState } from 'react';
import { ROUTING_QUERIES } from '../../api/models.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { useServedText } from '../../preferences/served-text.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { backendOf, emptyDraft, problemsOf, type BackendDraft } from './backend-draft.ts';
import { BackendFields } from './backend-fields.tsx';
import { kindsQuery, type BackendKind } from './kinds.ts';
import { freeName, PROVIDERS, type Provider } from './providers.ts';
import { TestResult } from './test-result.tsx';

interface NewBackendProps {
  readonly takenNames: readonly string[];
  readonly onDone: (name: string) => void;
  readonly onCancel?: () => void;
}

const CHANGES = ['backends.list', ...ROUTING_QUERIES] as const;

/** Asks for the kind, then for what this kind needs; tests the backend and then registers it. */
export function NewBackend(props: NewBackendProps) {
  const api = useApi();
  const kinds = useQuery(kindsQuery(api));
  if (kinds.isPending) return <Skeleton lines={4} />;
  const offered = (kinds.data ?? []).filter((kind) => !kind.is_internal);
  const [first] = offered;
  return first === undefined ? (
    <ErrorNote error={kinds.error} onRetry={() => void kinds.refetch()} />
  ) : (
    <NewBackendForm {...props} kinds={offered} first={first} />
  );
}

interface NewBackendFormProps extends NewBackendProps {
  readonly kinds: readonly BackendKind[];
  readonly first: BackendKind;
}

function NewBackendForm({ kinds, first, takenNames, onDone, onCancel }: NewBackendFormProps) {
  const { t } = useLanguage();
  const tServed = useServedText();
  const test = useCall('backends.test');
  const add = useCall('backends.add', { changes: CHANGES });
  const [kind, setKind] = useState(first);
  const [draft, setDraft] = useState(() => emptyDraft('', ''));
  // Undefined until one is chosen; null is a server of another kind.
  const [provider, setProvider] = useState<Provider | null>();
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
  const choose = (next: Provider | null): void => {
    const its = kinds.find(({ name }) => name === next?.kind) ?? first;
    setProvider(next);
    setKind(its);
    setChecked(false);
    change({
      ...emptyDraft(
        freeName(next?.name ?? its.name, takenNames),
        next === null || next.url === '' ? its.example_url : next.url,
      ),
      apiKey: draft.apiKey,
    });
  };
  const cards = (
    <fieldset className="providers">
      <legend className="field-label">{t('backends.provider')}</legend>
      {[...PROVIDERS.filter((one) => kinds.some(({ name }) => name === one.kind)), null].map(
        (one) => (
          <button
            key={one?.name ?? ''}
            type="button"
            className="provider"
            aria-pressed={provider === one}
            onClick={() => choose(one)}
          >
            {one?.title ?? t('backends.provider.other')}
          </button>
        ),
      )}
    </fieldset>
  );
  if (provider === undefined)
    return (
      <div className="form">
        {cards}
        {onCancel === undefined ? null : (
          <div className="dialog-actions">
            <Button onClick={onCancel}>{t('action.cancel')}</Button>
          </div>
        )}
      </div>
    );
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
      {cards}
      {provider === null ? (
        <Select
          label={t('backends.kind')}
          hint={tServed(kind.purpose)}
          value={kind.name}
          choices={kinds.map(({ name, title }) => ({ value: name, label: tServed(title) }))}
          onChange={(name) => {
            const next = kinds.find((each) => each.name === name) ?? first;
            setKind(next);
            change({
              ...draft,
              name: freeName(name, takenNames),
              url: next.example_url,
              models: '',
            });
          }}
        />
      ) : null}
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
