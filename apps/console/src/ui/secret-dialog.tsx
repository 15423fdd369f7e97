import { useLanguage } from '../preferences/language.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Secret } from './secret.tsx';

interface SecretDialogProps {
  /** What has the secret. */
  readonly of: 'keys' | 'webhooks';
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows a new secret once; only its button closes it. */
export function SecretDialog({ of, secret, onClose }: SecretDialogProps) {
  const { t } = useLanguage();
  return (
    <Dialog
      isOpen
      isPersistent
      onClose={onClose}
      title={t(`${of}.created.title`)}
      description={t(`${of}.created.text`)}
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
