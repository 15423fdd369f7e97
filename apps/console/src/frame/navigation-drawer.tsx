import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useLanguage } from '../preferences/language.tsx';
import { IconButton } from '../ui/button.tsx';
import { Account } from './account.tsx';
import { Brand, Navigation } from './navigation-list.tsx';

interface NavigationDrawerProps {
  readonly onClose: () => void;
}

/** The navigation above the page, where there is no room beside it. */
export function NavigationDrawer({ onClose }: NavigationDrawerProps) {
  const { t } = useLanguage();
  return (
    <Dialog.Root
      open
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer">
          <div className="drawer-head">
            <Dialog.Title className="visually-hidden">{t('frame.navigation')}</Dialog.Title>
            <Brand />
            <Dialog.Close
              render={
                <IconButton label={t('action.close')}>
                  <X aria-hidden size={16} />
                </IconButton>
              }
            />
          </div>
          <Navigation onChoose={onClose} />
          <Account />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
