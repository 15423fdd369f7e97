import { useState } from 'react';
import { modelsQuery } from '../../api/models.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Skeleton } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { NoModel } from '../playground/no-model.tsx';

/** Submits a video job. */
export function CreateVideo({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  const able = (models.data ?? []).filter(({ capabilities }) => capabilities.includes('video'));
  const create = useCall('video.create', { changes: ['video.list'] });
  const [chosen, setChosen] = useState<string>();
  const model = chosen ?? able[0]?.id;
  const { fields } = problemOf(create.error);
  return (
    <Dialog isOpen onClose={onClose} title={t('video.create')}>
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      {models.isPending ? <Skeleton lines={2} /> : null}
      {models.data !== undefined && model === undefined ? (
        <NoModel text={t('video.model.none')} />
      ) : null}
      {model === undefined ? null : (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            const prompt = trimmedText(new FormData(event.currentTarget), 'prompt');
            create.mutate({ model, prompt }, { onSuccess: onClose });
          }}
        >
          <Select
            label={t('video.model')}
            value={model}
            choices={able.map(({ id }) => ({ value: id, label: id }))}
            onChange={setChosen}
          />
          <TextField
            label={t('video.prompt')}
            name="prompt"
            render={<textarea rows={3} />}
            problem={fields['prompt']}
            required
          />
          <ErrorNote error={create.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button kind="primary" type="submit" disabled={create.isPending}>
              {t('video.create.submit')}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
