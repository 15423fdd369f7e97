import { useLanguage } from '../preferences/language.tsx';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

interface FormActionsProps {
  /** What the main button says. */
  readonly submit: string;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly onCancel: () => void;
}

/** The end of a form in a dialog or panel: what went wrong, and its two buttons. */
export function FormActions({ submit, isPending, error, onCancel }: FormActionsProps) {
  const { t } = useLanguage();
  return (
    <>
      <ErrorNote error={error} />
      <div className="dialog-actions">
        <Button onClick={onCancel} disabled={isPending}>
          {t('action.cancel')}
        </Button>
        <Button kind="primary" type="submit" disabled={isPending}>
          {submit}
        </Button>
      </div>
    </>
  );
}
