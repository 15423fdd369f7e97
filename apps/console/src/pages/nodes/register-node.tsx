import { useRpcForm } from '../../api/use-rpc-form.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormActions } from '../../ui/form-actions.tsx';
import { Secret } from '../../ui/secret.tsx';

/** Registers a node, then shows once how its agent is started. */
export function RegisterNode({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const {
    form,
    text,
    isPending,
    error,
    result: data,
  } = useRpcForm('agents.register', {
    initial: { version: 'unknown' },
    changes: ['agents.list'],
  });
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
    <Dialog isOpen isWaiting={isPending} onClose={onClose} title={t('nodes.add')}>
      <form {...form}>
        <TextField label={t('nodes.add.name')} {...text('machine_name')} />
        <FormActions
          submit={t('nodes.add.submit')}
          isPending={isPending}
          error={error}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
