import { useLanguage } from '../../preferences/language.tsx';
import type { Said } from './transcript.ts';

interface SaidViewProps {
  readonly said: Said;
  readonly model: string;
}

/** What one side said, and the numbers of an answer. */
export function SaidView({ said, model }: SaidViewProps) {
  const { t, format } = useLanguage();
  const { who, text, state, firstMs, inputTokens, outputTokens } = said;
  if (who === 'user')
    return (
      <div className="turn turn-question">
        <strong>{t('playground.you')}</strong>
        <p className="turn-text">{text === '' ? t('realtime.spoken') : text}</p>
      </div>
    );
  const facts: readonly (readonly [name: string, value: string])[] = [
    [t('realtime.first'), firstMs === undefined ? '' : format.duration(Math.round(firstMs))],
    [
      t('playground.stats.tokens'),
      inputTokens === undefined && outputTokens === undefined
        ? ''
        : `${format.number(inputTokens ?? 0)} / ${format.number(outputTokens ?? 0)}`,
    ],
  ];
  return (
    <div className="turn turn-answer" aria-busy={state === 'running'}>
      <strong>{model}</strong>
      <p className="turn-text">{text}</p>
      {state === 'stopped' ? <p className="turn-state">{t('playground.stopped')}</p> : null}
      {state === 'failed' ? <p className="field-problem">{t('realtime.failed')}</p> : null}
      <dl className="facts">
        {facts.map(([name, value]) =>
          value === '' ? null : (
            <div key={name} className="fact">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </div>
  );
}
