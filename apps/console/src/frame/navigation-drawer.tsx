import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useLanguage } from '../preferences/language.tsx';
import { IconButton } from '../ui/button.tsx';
import { Brand, Navigation } from './navigation-list.tsx';

interface NavigationDrawerProps {
  readonly isOpen: boolean;
  readonly onChange: (isOpen: boolean) => void;
}

/** The navigation above the page, where there is no room beside it. */
export function NavigationDrawer({ isOpen, onChange }: NavigationDrawerProps) {
  const { t } = useLanguage();
  return (
    <Dialog.Root open={isOpen} onOpenChange={(next) => onChange(next)}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer">
          <div className="dialog-head">
            <Dialog.Title className="visually-hidden">{t('frame.navigation')}</Dialog.Title>
            <Brand />
            <IconButton label={t('action.close')} onClick={() => onChange(false)}>
              <X aria-hidden size={16} />
            </IconButton>
          </div>
          <Navigation onChoose={() => onChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
