import { Link } from '@tanstack/react-router';
import { FileText, Pencil, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { AnswerView } from './answer-view.tsx';
import { ModelFailure } from './chat-turn.ts';
import { Images } from './images-view.tsx';
import { ModelFailureNote } from './model-failure-note.tsx';
import { requestOfQuery } from './request-of.ts';
import { TurnEdit } from './turn-edit.tsx';
import { TurnNumbers } from './turn-numbers.tsx';
import type { Turn } from './use-chat.ts';

interface TurnViewProps {
  readonly turn: Turn;
  readonly onRegenerate?: () => void;
  /** Asks a changed question in place of this one. */
  readonly onEdit?: (question: string) => void;
}

/** A question, its answer and the numbers of the answer. */
export function TurnView({ turn, onRegenerate, onEdit }: TurnViewProps) {
  const { t } = useLanguage();
  const [isRaw, setRaw] = useState(false);
  const isRunning = turn.state === 'running';
  return (
    <article className="turn">
      <QuestionView turn={turn} {...(onEdit === undefined ? {} : { onEdit })} />
      <div className="turn-answer" aria-busy={isRunning}>
        <p className="turn-model">{turn.end?.model ?? turn.model}</p>
        <AnswerView
          text={turn.answer}
          toolCalls={turn.toolCalls}
          isRunning={isRunning}
          isRaw={isRaw}
        />
        {turn.state === 'stopped' ? <p className="turn-state">{t('playground.stopped')}</p> : null}
        {turn.error instanceof ModelFailure ? (
          <ModelFailureNote turn={turn} failure={turn.error} />
        ) : (
          <ErrorNote error={turn.error} />
        )}
        {isRunning ? null : (
          <div className="turn-foot">
            {turn.answer === '' ? null : <CopyButton text={turn.answer} />}
            {turn.answer === '' ? null : (
              <IconButton
                label={t('playground.raw')}
                aria-pressed={isRaw}
                onClick={() => setRaw(!isRaw)}
              >
                <FileText aria-hidden size={14} />
              </IconButton>
            )}
            {onRegenerate === undefined ? null : (
              <IconButton label={t('playground.regenerate')} onClick={onRegenerate}>
                <RotateCcw aria-hidden size={14} />
              </IconButton>
            )}
            <TurnFacts turn={turn} />
          </div>
        )}
      </div>
    </article>
  );
}

function QuestionView({ turn, onEdit }: Omit<TurnViewProps, 'onRegenerate'>) {
  const { t } = useLanguage();
  const [isEditing, setEditing] = useState(false);
  if (isEditing && onEdit !== undefined)
    return <TurnEdit text={turn.question} onClose={() => setEditing(false)} onSend={onEdit} />;
  if (turn.question === '' && turn.images.length === 0) return null;
  return (
    <div className="turn-question">
      <span className="visually-hidden">{t('playground.you')}</span>
      {onEdit === undefined ? null : (
        <IconButton label={t('playground.edit')} onClick={() => setEditing(true)}>
          <Pencil aria-hidden size={14} />
        </IconButton>
      )}
      <div className="turn-bubble">
        <Images images={turn.images} />
        <p className="turn-text">{turn.question}</p>
      </div>
    </div>
  );
}

/** The numbers of a turn, and the way to all that is known of its request. */
function TurnFacts({ turn: { end, refId } }: Pick<TurnViewProps, 'turn'>) {
  const { t } = useLanguage();
  const request = useQuery(requestOfQuery(useApi(), refId)).data;
  return (
    <>
      {end === undefined ? null : <TurnNumbers end={end} request={request} />}
      {request === undefined || request === null ? null : (
        <Link to="/requests" search={{ request: request.id }} className="turn-request">
          {t('playground.request')}
        </Link>
      )}
    </>
  );
}
