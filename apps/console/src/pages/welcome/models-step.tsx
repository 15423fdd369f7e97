import { canChat, modelsQuery } from '../../api/models.ts';
import { useApi, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { NewBackend } from '../backends/new-backend.tsx';
import { ModelPicker } from '../playground/model-picker.tsx';
import { useState } from 'react';

interface ModelsStepProps {
  readonly onDone: (model: string) => void;
  readonly onSkip: () => void;
}

/** What can answer now: the demo model, or models of backends. */
export function ModelsStep({ onDone, onSkip }: ModelsStepProps) {
  const { t } = useLanguage();
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  const [chosen, setChosen] = useState<string>();
  const [isAdding, setAdding] = useState(false);
  const { is_admin: isAdmin } = useUser();
  const backends = useQuery({ ...api.query('backends.list'), enabled: isAdmin });
  const ready = (models.data ?? []).filter(canChat);
  const demo = ready.find(({ owned_by: owner }) => owner === 'demo');
  const model = chosen ?? demo?.id ?? ready[0]?.id;
  if (models.isPending) return <Skeleton lines={2} />;
  if (isAdding)
    return (
      <NewBackend
        takenNames={(backends.data ?? []).map(({ name }) => name)}
        onCancel={() => setAdding(false)}
        onDone={() => {
          setAdding(false);
          setChosen(undefined);
          void models.refetch();
        }}
      />
    );
  return (
    <div className="form">
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      {model === undefined ? (
        <p>
          {t('welcome.models.none')}{' '}
          <a href="/docs" target="_blank" rel="noreferrer">
            {t('welcome.models.guide')}
          </a>
        </p>
      ) : (
        <>
          <p>
            {demo === undefined
              ? t('welcome.models.text', { count: ready.length })
              : t('welcome.models.demo')}
          </p>
          <ModelPicker models={ready} value={model} onChange={setChosen} />
        </>
      )}
      <div className="card-actions">
        {model === undefined ? null : (
          <Button kind="primary" onClick={() => onDone(model)}>
            {model === demo?.id ? t('welcome.models.use_demo') : t('action.next')}
          </Button>
        )}
        {isAdmin ? (
          <Button onClick={() => setAdding(true)}>{t('welcome.models.add')}</Button>
        ) : null}
        <Button kind="quiet" onClick={onSkip}>
          {t('action.skip')}
        </Button>
      </div>
    </div>
  );
}
