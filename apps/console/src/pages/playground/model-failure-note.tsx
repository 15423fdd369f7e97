import { problemOf } from '../../api/problem.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { AlertNote } from '../../ui/error-note.tsx';
import { upstreamOf, type ModelFailure } from './chat-turn.ts';
import { requestOfQuery } from './request-of.ts';
import type { Turn } from './use-chat.ts';

interface ModelFailureNoteProps {
  readonly turn: Turn;
  readonly failure: ModelFailure;
}

/** Which model failed, what its backend answered, and the request with all that was tried. */
export function ModelFailureNote({ turn: { model, refId }, failure }: ModelFailureNoteProps) {
  const { t } = useLanguage();
  const request = useQuery(requestOfQuery(useApi(), refId)).data;
  const backend = request?.upstream ?? undefined;
  const { status, message = '' } = upstreamOf(failure.data) ?? {};
  const { retryAfterSecs } = problemOf(failure);
  const reason =
    backend === undefined
      ? failure.message
      : status === undefined
        ? t('playground.failed.reason', { backend, message: failure.message })
        : t('playground.failed.answer', { backend, status: String(status), message });
  return (
    <AlertNote
      title={t('playground.failed', { model })}
      message={reason}
      remedy={t('playground.failed.remedy')}
    >
      {retryAfterSecs === undefined ? null : (
        <p>{t('error.retry_after', { seconds: retryAfterSecs })}</p>
      )}
    </AlertNote>
  );
}
