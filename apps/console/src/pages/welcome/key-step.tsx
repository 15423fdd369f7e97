import { useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Secret } from '../../ui/secret.tsx';

interface KeyStepProps {
  /** With the key; without one where the step is skipped. */
  readonly onDone: (key?: string) => void;
}

/** Creates the first key and shows it once. */
export function KeyStep({ onDone }: KeyStepProps) {
  const { t } = useLanguage();
  const create = useCall('keys.create', { changes: ['keys.list'] });
  const { data } = create;
  return (
    <div className="form">
      <p>{t(data === undefined ? 'welcome.key.text' : 'keys.created.text')}</p>
      <ErrorNote error={create.error} />
      {data === undefined ? (
        <div className="card-actions">
          <Button
            kind="primary"
            disabled={create.isPending}
            onClick={() => create.mutate({ name: t('welcome.key.name') })}
          >
            {t('welcome.key.create')}
          </Button>
          <Button kind="quiet" onClick={() => onDone()}>
            {t('action.skip')}
          </Button>
        </div>
      ) : (
        <>
          <Secret text={data.key} />
          <div>
            <Button kind="primary" onClick={() => onDone(data.key)}>
              {t('keys.created.done')}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}
