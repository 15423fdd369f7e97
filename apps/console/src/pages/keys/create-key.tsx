import { useCall } from '../../api/use-api.ts';
import { problemOf } from '../../api/problem.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { formText } from '../../ui/form-text.ts';
import { Secret } from '../../ui/secret.tsx';

/** Creates a key, then shows it once. */
export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const create = useCall('keys.create', { changes: ['keys.list'] });
  if (create.data !== undefined)
    return (
      <Dialog
        isOpen
        isPersistent
        onClose={onClose}
        title={t('keys.created.title')}
        description={t('keys.created.text')}
      >
        <Secret text={create.data.key} />
        <div className="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            {t('keys.created.done')}
          </Button>
        </div>
      </Dialog>
    );
  const { fields } = problemOf(create.error);
  return (
    <Dialog isOpen onClose={onClose} title={t('keys.create.title')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const project = formText(form, 'project', true);
          create.mutate({
            name: formText(form, 'name', true),
            ...(project === '' ? {} : { project }),
          });
        }}
      >
        <TextField label={t('keys.name')} name="name" problem={fields['name']} required />
        <TextField
          label={t('keys.project')}
          name="project"
          hint={t('keys.project.hint')}
          problem={fields['project']}
        />
        <ErrorNote error={create.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={create.isPending}>
            {t('keys.create.submit')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
