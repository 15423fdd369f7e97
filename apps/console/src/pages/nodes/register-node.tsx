import { useCall } from '../../api/use-api.ts';
import { problemOf } from '../../api/problem.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Secret } from '../../ui/secret.tsx';

/** Registers a node, then shows once how its agent is started. */
export function RegisterNode({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const register = useCall('agents.register', { changes: ['agents.list'] });
  const { data } = register;
  if (data !== undefined)
    return (
      <Dialog
        isOpen
        isPersistent
        onClose={onClose}
        title={t('nodes.added.title')}
        description={t('nodes.added.text')}
      >
        <Secret text={`AGENT_TOKEN=${data.token} gpu-agent --url ${location.origin}`} />
        <div className="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            {t('nodes.added.done')}
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog isOpen isWaiting={register.isPending} onClose={onClose} title={t('nodes.add')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const name = trimmedText(new FormData(event.currentTarget), 'name');
          register.mutate({ machine_name: name, version: 'unknown' });
        }}
      >
        <TextField
          label={t('nodes.add.name')}
          name="name"
          problem={problemOf(register.error).fields['machine_name']}
          required
        />
        <ErrorNote error={register.error} />
        <div className="dialog-actions">
          <Button disabled={register.isPending} onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button kind="primary" type="submit" disabled={register.isPending}>
            {t('nodes.add.submit')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
