import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { problemOf, remedyOfCall } from '../api/problem.ts';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { revealInDialog } from './reveal-in-dialog.ts';

interface ErrorNoteProps {
  /** Anything that was thrown; nothing is shown without one. */
  readonly error: unknown;
  /** Of what the page reads, which it also asks for again by itself; a call that changes something has none. */
  readonly onRetry?: (() => void) | undefined;
}

/** What happened, what to do, and the id that finds it in the log. */
export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  const { t } = useLanguage();
  if (error === undefined || error === null) return null;
  const { title, message, remedy, requestId, retryAfterSecs, doc } = problemOf(error);
  return (
    <AlertNote
      title={t(title)}
      message={message}
      remedy={t(onRetry === undefined ? remedyOfCall(remedy) : remedy)}
    >
      {retryAfterSecs === undefined ? null : (
        <p>{t('error.retry_after', { seconds: retryAfterSecs })}</p>
      )}
      {requestId === undefined ? null : (
        <p className="note-id">
          {t('error.request_id')} <code>{requestId}</code> <CopyButton text={requestId} />
        </p>
      )}
      {doc === undefined ? null : (
        <p>
          <a href={doc} target="_blank" rel="noreferrer">
            {t('error.more')}
          </a>
        </p>
      )}
      {onRetry === undefined ? null : <Button onClick={onRetry}>{t('action.retry')}</Button>}
    </AlertNote>
  );
}

interface AlertNoteProps {
  readonly title: string;
  /** In words of the service. */
  readonly message: string | undefined;
  readonly remedy: string;
  readonly children?: ReactNode;
}

/** That something failed, why, and what to do. */
export function AlertNote({ title, message, remedy, children }: AlertNoteProps) {
  return (
    <div className="note note-error" role="alert" ref={revealInDialog}>
      <CircleAlert aria-hidden size={18} className="note-icon" />
      <div className="note-body">
        <strong>{title}</strong>
        {message === undefined ? null : <p className="note-message">{message}</p>}
        <p>{remedy}</p>
        {children}
      </div>
    </div>
  );
}
