import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { ROUTING_QUERIES } from '../../api/models.ts';
import { useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { changeOf, draftOf, problemsOf } from './backend-draft.ts';
import { BackendFields } from './backend-fields.tsx';
import type { BackendKind } from './kinds.ts';

interface EditBackendProps {
  readonly backend: RpcResult<'backends.list'>[number];
  readonly kind: BackendKind;
  readonly onClose: () => void;
}

/** Changes a backend. It stays open, with the reason, while the changed backend is not healthy. */
export function EditBackend({ backend, kind, onClose }: EditBackendProps) {
  const { t } = useLanguage();
  const update = useCall('backends.update', { changes: ['backends.list', ...ROUTING_QUERIES] });
  const [before] = useState(() => draftOf(backend));
  const [draft, setDraft] = useState(before);
  const problems = problemsOf(kind, draft);
  const saved = update.data;
  return (
    <Dialog isOpen onClose={onClose} title={t('backends.edit.title', { name: backend.name })}>
      <form
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (Object.keys(problems).length > 0) return;
          update.mutate(
            { name: backend.name, ...changeOf(kind, before, draft) },
            { onSuccess: ({ state }) => (state === 'Healthy' ? onClose() : undefined) },
          );
        }}
      >
        <BackendFields
          kind={kind}
          draft={draft}
          problems={problems}
          isNameFixed
          keyHint={backend.has_api_key ? 'backends.form.key.keep' : 'backends.form.key.none'}
          keyCount={backend.api_key_count}
          onChange={setDraft}
        />
        <ErrorNote error={update.error} />
        {saved === undefined || saved.state === 'Healthy' || update.isPending ? null : (
          <div className="note note-error" role="alert">
            <div className="note-body">
              <strong>{t('backends.edit.saved')}</strong>
              <p className="note-message">{saved.reason}</p>
              <p>{t('backends.test.meaning')}</p>
            </div>
          </div>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.close')}</Button>
          <Button kind="primary" type="submit" disabled={update.isPending}>
            {t('action.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
