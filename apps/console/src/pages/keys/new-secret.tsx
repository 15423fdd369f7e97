import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Secret } from '../../ui/secret.tsx';

interface NewSecretProps {
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows the secret of a key once; only its button closes it. */
export function NewSecret({ secret, onClose }: NewSecretProps) {
  const { t } = useLanguage();
  return (
    <Dialog
      isOpen
      isPersistent
      onClose={onClose}
      title={t('keys.created.title')}
      description={t('keys.created.text')}
    >
      <Secret text={secret} />
      <div className="dialog-actions">
        <Button kind="primary" onClick={onClose}>
          {t('keys.created.done')}
        </Button>
      </div>
    </Dialog>
  );
}
