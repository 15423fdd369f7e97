import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useRef, type ReactNode } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Button, IconButton } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: string;
  readonly children: ReactNode;
  /** Whether only a button of its content closes it. */
  readonly isPersistent?: boolean;
  /** Whether a call is under way whose result can be shown only once: nothing closes the window meanwhile. */
  readonly isWaiting?: boolean;
}

const FIRST_FIELD =
  ':is(input, textarea, [role=combobox]):not([type=hidden], [aria-hidden=true], :disabled)';

/** A window above the page, with a form or a detail. */
export function DialogWindow(props: DialogProps) {
  const { isOpen, onClose, title, description, children } = props;
  const { isPersistent = false, isWaiting = false } = props;
  const { t } = useLanguage();
  const content = useRef<HTMLDivElement>(null);
  return (
    <BaseDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (!open && !isPersistent && !isWaiting) onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup
          ref={content}
          className="dialog"
          // Not on a touch screen, where a field that has the focus opens a keyboard over the dialog.
          initialFocus={() =>
            matchMedia('(pointer: coarse)').matches ||
            (content.current?.querySelector<HTMLElement>(FIRST_FIELD) ?? true)
          }
        >
          <div className="dialog-head">
            <BaseDialog.Title className="dialog-title">{title}</BaseDialog.Title>
            {isPersistent ? null : (
              <IconButton label={t('action.close')} onClick={onClose} disabled={isWaiting}>
                <X aria-hidden size={16} />
              </IconButton>
            )}
          </div>
          {description === undefined ? null : (
            <BaseDialog.Description className="dialog-text">{description}</BaseDialog.Description>
          )}
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Names what is lost. */
  readonly text: string;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly isPending?: boolean;
  readonly error?: unknown;
}

/** Asks before something that cannot be undone. */
export function ConfirmWindow(props: ConfirmProps) {
  const { isOpen, onClose, title, text, action, onConfirm, isPending = false, error } = props;
  const { t } = useLanguage();
  return (
    <AlertDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title className="dialog-title">{title}</AlertDialog.Title>
          <AlertDialog.Description className="dialog-text">{text}</AlertDialog.Description>
          <ErrorNote error={error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button kind="danger" onClick={onConfirm} disabled={isPending}>
              {action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
