import type { RpcResult } from '@model-gateway/contracts';
import { useLanguage } from '../../preferences/language.tsx';
import type { ChatEnd } from './chat-turn.ts';

interface TurnNumbersProps {
  readonly end: ChatEnd;
  /** The turn in the request log, once it is there. */
  readonly request: RpcResult<'requests.list'>['requests'][number] | null | undefined;
}

/** How fast an answer was, and what it took. */
export function TurnNumbers({ end, request }: TurnNumbersProps) {
  const { t, format } = useLanguage();
  const seconds = (end.totalMs - (end.firstTokenMs ?? 0)) / 1000;
  const speed = seconds > 0 ? (end.completionTokens ?? 0) / seconds : undefined;
  const cached = request?.cached_tokens ?? 0;
  const cost = request?.cost ?? undefined;
  const facts: readonly (readonly [name: string, value: string])[] = [
    [t('playground.stats.backend'), request?.upstream ?? ''],
    [
      t('playground.stats.first_token'),
      end.firstTokenMs === undefined ? '' : format.duration(Math.round(end.firstTokenMs)),
    ],
    [t('playground.stats.speed'), speed === undefined ? '' : format.number(Math.round(speed))],
    [
      t('playground.stats.tokens'),
      `${format.number(end.promptTokens ?? 0)} / ${format.number(end.completionTokens ?? 0)}`,
    ],
    [t('playground.stats.cached'), cached === 0 ? '' : format.number(cached)],
    [t('playground.stats.cost'), cost === undefined ? '' : format.money(cost)],
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
    </dl>
  );
}
