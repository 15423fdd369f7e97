import { useLanguage } from '../../preferences/language.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { NewBackend } from './new-backend.tsx';

interface AddBackendProps {
  readonly takenNames: readonly string[];
  readonly onClose: () => void;
}

/** The form for a new backend as a dialog. */
export function AddBackend({ takenNames, onClose }: AddBackendProps) {
  const { t } = useLanguage();
  return (
    <Dialog isOpen onClose={onClose} title={t('backends.form.title')}>
      <NewBackend takenNames={takenNames} onDone={onClose} onCancel={onClose} />
    </Dialog>
  );
}
