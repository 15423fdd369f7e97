import { lazy } from 'react';
import type { ConfirmProps, DialogProps } from './dialog-window.tsx';
import { OnceOpen } from './once-open.tsx';

const load = () => import('./dialog-window.tsx');
const DialogWindow = lazy(async () => ({ default: (await load()).DialogWindow }));
const ConfirmWindow = lazy(async () => ({ default: (await load()).ConfirmWindow }));

/** A window above the page, with a form or a detail. Its code is loaded when one is first opened. */
export function Dialog(props: DialogProps) {
  return (
    <OnceOpen isOpen={props.isOpen}>
      <DialogWindow {...props} />
    </OnceOpen>
  );
}

/** Asks before something that cannot be undone. */
export function Confirm(props: ConfirmProps) {
  return (
    <OnceOpen isOpen={props.isOpen}>
      <ConfirmWindow {...props} />
    </OnceOpen>
  );
}
