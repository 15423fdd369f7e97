import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Button, IconButton } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: string | undefined;
  readonly children: ReactNode;
  /** Whether only a button of its content closes it. */
  readonly isPersistent?: boolean;
  /** Whether a call is under way whose result can be shown only once: nothing closes the window meanwhile. */
  readonly isWaiting?: boolean;
  /** Whether something was changed and not saved: closing asks first. */
  readonly isChanged?: boolean;
  /** Whether it has room for code or a table. */
  readonly isWide?: boolean;
}

const FIRST_FIELD =
  ':is(input, textarea, [role=combobox], [aria-pressed]):not([type=hidden], [aria-hidden=true], :disabled)';

/** A window above the page, for a short form or a result. */
export function Dialog({ isWide = false, ...props }: DialogProps) {
  return <Window {...props} className={isWide ? 'dialog dialog-wide' : 'dialog'} />;
}

/** A panel at the side of the page: one thing of a list that stays in sight, or a longer form. */
export function SidePanel(props: Omit<DialogProps, 'isWide'>) {
  return <Window {...props} className="side-panel" />;
}

function Window(props: DialogProps & { readonly className: string }) {
  const { isOpen, onClose, title, description, children, className } = props;
  const { isPersistent = false, isWaiting = false, isChanged = false } = props;
  const [isAsking, setAsking] = useState(false);
  const { t } = useLanguage();
  const content = useRef<HTMLDivElement>(null);
  const close = (): void => (isChanged ? setAsking(true) : onClose());
  return (
    <BaseDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (!open && !isPersistent && !isWaiting) close();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup
          ref={content}
          className={className}
          // Not on a touch screen, where a field that has the focus opens a keyboard over the dialog.
          initialFocus={() =>
            matchMedia('(pointer: coarse)').matches ||
            (content.current?.querySelector<HTMLElement>(FIRST_FIELD) ?? true)
          }
        >
          <div className="dialog-head">
            <BaseDialog.Title className="dialog-title">{title}</BaseDialog.Title>
            {isPersistent ? null : (
              <IconButton label={t('action.close')} onClick={close} disabled={isWaiting}>
                <X aria-hidden size={16} />
              </IconButton>
            )}
          </div>
          <div className="dialog-body">
            {description === undefined ? null : (
              <BaseDialog.Description className="dialog-text">{description}</BaseDialog.Description>
            )}
            {children}
          </div>
          <Confirm
            isOpen={isAsking}
            onClose={() => setAsking(false)}
            title={t('form.discard.title')}
            text={t('form.discard.text')}
            action={t('form.discard')}
            onConfirm={onClose}
          />
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface ConfirmProps {
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
export function Confirm(props: ConfirmProps) {
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
          <div className="dialog-head">
            <AlertDialog.Title className="dialog-title">{title}</AlertDialog.Title>
          </div>
          <div className="dialog-body">
            <AlertDialog.Description className="dialog-text">{text}</AlertDialog.Description>
            <ErrorNote error={error} />
            <div className="dialog-actions">
              <Button onClick={onClose}>{t('action.cancel')}</Button>
              <Button kind="danger" onClick={onConfirm} disabled={isPending}>
                {action}
              </Button>
            </div>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
