import { Toast } from '@base-ui/react/toast';
import { CircleCheck, X } from 'lucide-react';
import { useEffect } from 'react';
import { useLanguage } from '../preferences/language.tsx';

const SHOWN_MS = 5000;
const manager = Toast.createToastManager();

interface ToastListProps {
  /** What was said last. */
  readonly toast: { readonly text: string };
}

/** Where toasts are shown. */
export function ToastList({ toast }: ToastListProps) {
  useEffect(() => void manager.add({ title: toast.text, timeout: SHOWN_MS }), [toast]);
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Shown() {
  const { t } = useLanguage();
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <CircleCheck aria-hidden size={16} />
      <Toast.Title className="toast-body" render={<div />} />
      <Toast.Close className="button button-icon button-small" aria-label={t('action.close')}>
        <X aria-hidden size={14} />
      </Toast.Close>
    </Toast.Root>
  ));
}
