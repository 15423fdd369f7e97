import './playground.css';
import { Link } from '@tanstack/react-router';
import { Pencil, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ModelFailure, type ChatEnd } from './chat-turn.ts';
import { ModelFailureNote } from './model-failure-note.tsx';
import { requestOfQuery } from './request-of.ts';
import { TurnEdit } from './turn-edit.tsx';
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
  const [isEditing, setEditing] = useState(false);
  return (
    <article className="turn">
      <div className="turn-question">
        <strong>{t('playground.you')}</strong>
        {isEditing && onEdit !== undefined ? (
          <TurnEdit text={turn.question} onClose={() => setEditing(false)} onSend={onEdit} />
        ) : (
          <p className="turn-text">{turn.question}</p>
        )}
        <Images images={turn.images} />
      </div>
      <div className="turn-answer" aria-busy={turn.state === 'running'}>
        <strong>{turn.end?.model ?? turn.model}</strong>
        <p className="turn-text">{turn.answer}</p>
        {turn.toolCalls.map((call, place) => (
          <pre key={place} className="turn-call">
            {call.name}({call.arguments})
          </pre>
        ))}
        {turn.state === 'stopped' ? <p className="turn-state">{t('playground.stopped')}</p> : null}
        {turn.error instanceof ModelFailure ? (
          <ModelFailureNote turn={turn} failure={turn.error} />
        ) : (
          <ErrorNote error={turn.error} />
        )}
        {turn.state === 'running' ? null : (
          <div className="turn-foot">
            {turn.end === undefined ? null : <Numbers end={turn.end} refId={turn.refId} />}
            <span className="turn-actions">
              <CopyButton text={turn.answer} />
              {onEdit === undefined ? null : (
                <Button kind="quiet" onClick={() => setEditing(true)}>
                  <Pencil aria-hidden size={14} /> {t('playground.edit')}
                </Button>
              )}
              {onRegenerate === undefined ? null : (
                <Button kind="quiet" onClick={onRegenerate}>
                  <RotateCcw aria-hidden size={14} /> {t('playground.regenerate')}
                </Button>
              )}
            </span>
          </div>
        )}
      </div>
    </article>
  );
}

interface NumbersProps {
  readonly end: ChatEnd;
  readonly refId: string | undefined;
}

function Numbers({ end, refId }: NumbersProps) {
  const { t, format } = useLanguage();
  const api = useApi();
  const usage = useQuery(requestOfQuery(api, refId)).data;
  const seconds = (end.totalMs - (end.firstTokenMs ?? 0)) / 1000;
  const speed = seconds > 0 ? (end.completionTokens ?? 0) / seconds : undefined;
  const facts: readonly (readonly [name: string, value: string])[] = [
    [t('playground.stats.backend'), usage?.upstream ?? ''],
    [
      t('playground.stats.first_token'),
      end.firstTokenMs === undefined ? '' : format.duration(Math.round(end.firstTokenMs)),
    ],
    [t('playground.stats.speed'), speed === undefined ? '' : format.number(Math.round(speed))],
    [
      t('playground.stats.tokens'),
      `${format.number(end.promptTokens ?? 0)} / ${format.number(end.completionTokens ?? 0)}`,
    ],
    [
      t('playground.stats.cached'),
      usage?.cached_tokens === null || usage?.cached_tokens === undefined
        ? ''
        : format.number(usage.cached_tokens),
    ],
    [
      t('playground.stats.cost'),
      usage?.cost === null || usage?.cost === undefined ? '' : format.money(usage.cost),
    ],
    [t('playground.stats.memory'), end.memory === 'disabled' ? '' : end.memory],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) =>
        value === '' ? null : (
          <div key={name} className="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
      {usage === undefined || usage === null ? null : (
        <div className="fact">
          <dt>{t('playground.stats.request')}</dt>
          <dd>
            <Link to="/requests" search={{ request: usage.id }}>
              {t('playground.stats.request.open')}
            </Link>
          </dd>
        </div>
      )}
    </dl>
  );
}

/** The images of a question. */
export function Images({ images }: { readonly images: readonly string[] }) {
  const { t } = useLanguage();
  if (images.length === 0) return null;
  return (
    <div className="turn-images">
      {images.map((image, place) => (
        <img key={place} src={image} alt={t('playground.image', { number: place + 1 })} />
      ))}
    </div>
  );
}
