import type { RpcResult } from '@model-gateway/contracts';
import { useLocation } from '@tanstack/react-router';
import { useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { useServedText } from '../../preferences/served-text.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { FromFile } from '../../ui/from-file.tsx';
import { Badge } from '../../ui/badge.tsx';
import { When } from '../../ui/when.tsx';
import { LIMITS } from './backend-draft.ts';
import type { BackendKind } from './kinds.ts';
import { LatencyLine } from './latency-line.tsx';
import { TestResult } from './test-result.tsx';

interface BackendCardProps {
  readonly backend: RpcResult<'backends.list'>[number];
  /** Undefined while the kinds are not known. */
  readonly kind: BackendKind | undefined;
  /** Of the last day; undefined where it had no request. */
  readonly sums: { readonly requests: number; readonly errors: number } | undefined;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

const STATES = { Healthy: 'good', Degraded: 'warning', Unhealthy: 'bad' } as const;
const CIRCUITS = { closed: 'good', 'half-open': 'warning', open: 'bad' } as const;
const MODELS_MAX = 6;
const show = (card: HTMLLIElement | null): void => card?.scrollIntoView({ block: 'center' });

/** One backend: its state and why, what it serves, how it did, and a test. */
export function BackendCard({ backend, kind, sums, onEdit, onRemove }: BackendCardProps) {
  const { t, format } = useLanguage();
  const tServed = useServedText();
  const test = useCall('backends.test', { changes: ['backends.list'] });
  const { name, type, state, reason, circuit, models, url, checked_at: checkedAt } = backend;
  const isWanted = useLocation({ select: ({ hash }) => hash === `backend-${name}` });
  const limitTexts = LIMITS.flatMap((limit) => {
    const value = backend.limits?.[limit] ?? null;
    return value === null ? [] : `${t(`backends.limit.${limit}`)}: ${format.number(value)}`;
  });
  return (
    <li className="card" aria-label={name} ref={isWanted ? show : null}>
      <div className="card-head">
        <h2 className="card-title">{name}</h2>
        {checkedAt === null ? (
          <Badge state="neutral">{t('backends.state.unchecked')}</Badge>
        ) : (
          <Badge state={STATES[state]}>{t(`backends.state.${state}`)}</Badge>
        )}
      </div>
      {reason === null || checkedAt === null ? null : <p className="card-reason">{reason}</p>}
      <dl className="card-facts">
        <dt>{t('backends.kind')}</dt>
        <dd>{kind === undefined ? type : tServed(kind.title)}</dd>
        <dt>{t('backends.address')}</dt>
        <dd>
          <code>{url}</code>
        </dd>
        <dt>{t('backends.circuit')}</dt>
        <dd>
          <Badge state={CIRCUITS[circuit]}>{t(`backends.circuit.${circuit}`)}</Badge>
          {Object.entries(backend.operation_circuits ?? {}).map(([operation, of]) => (
            <Badge key={operation} state={CIRCUITS[of]}>
              {`${operation}: ${t(`backends.circuit.${of}`)}`}
            </Badge>
          ))}
        </dd>
        <dt>{t('backends.checked')}</dt>
        <dd>{checkedAt === null ? t('backends.not_checked') : <When time={checkedAt} />}</dd>
        <dt>{t('backends.models')}</dt>
        <dd>{modelsText(models)}</dd>
        {limitTexts.length === 0 ? null : (
          <>
            <dt>{t('keys.limits')}</dt>
            <dd>{limitTexts.join(', ')}</dd>
          </>
        )}
        <dt>{t('backends.requests')}</dt>
        <dd className="card-number">{format.number(sums?.requests ?? 0)}</dd>
        <dt>{t('backends.errors')}</dt>
        <dd className="card-number">{format.number(sums?.errors ?? 0)}</dd>
        <dt>{t('backends.latency')}</dt>
        <dd>
          <LatencyLine backend={name} />
        </dd>
      </dl>
      {test.isPending ? <p role="status">{t('backends.testing')}</p> : null}
      <ErrorNote error={test.error} />
      {test.data === undefined || test.isPending ? null : <TestResult result={test.data} />}
      <div className="card-actions">
        <Button
          aria-label={t('backends.test.of', { name })}
          disabled={test.isPending}
          onClick={() => test.mutate({ name })}
        >
          {t('backends.test')}
        </Button>
        {kind?.is_internal === true ? (
          <span className="card-note">{t('backends.of_node')}</span>
        ) : backend.source === 'file' ? (
          <FromFile />
        ) : (
          <>
            <Button
              aria-label={t('backends.edit.of', { name })}
              disabled={kind === undefined}
              onClick={onEdit}
            >
              {t('backends.edit')}
            </Button>
            <Button aria-label={t('backends.remove.of', { name })} onClick={onRemove}>
              {t('backends.remove')}
            </Button>
          </>
        )}
      </div>
    </li>
  );

  function modelsText(ids: readonly string[]): string {
    if (ids.length === 0) return t('backends.models.none');
    const shown = ids.slice(0, MODELS_MAX).join(', ');
    const count = ids.length - MODELS_MAX;
    return count > 0 ? `${shown} ${t('state.more', { count })}` : shown;
  }
}
