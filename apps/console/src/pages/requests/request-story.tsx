import './requests.css';
import type { RpcResult } from '@model-gateway/contracts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { NoPrice } from '../../spend/no-price.tsx';
import { priceText } from '../../spend/price-text.ts';
import { RequestStatus } from '../../spend/request-table.tsx';
import { useNames } from '../../spend/use-names.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Skeleton } from '../../ui/page.tsx';
import type { Translate } from '../../texts/texts.ts';
import { textOfReason } from './attempt-reason.ts';

type Request = RpcResult<'requests.get'>;

interface RequestStoryProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** Everything that is known about one request. */
export function RequestStory({ id, onClose }: RequestStoryProps) {
  const { t } = useLanguage();
  const api = useApi();
  const request = useQuery(api.query('requests.get', { id }));
  return (
    <Dialog isOpen onClose={onClose} title={t('requests.story')}>
      <ErrorNote error={request.error} onRetry={() => void request.refetch()} />
      {request.isPending ? <Skeleton lines={8} /> : null}
      {request.data === undefined || request.isPlaceholderData ? null : (
        <Story request={request.data} />
      )}
    </Dialog>
  );
}

function Story({ request }: { readonly request: Request }) {
  const { t, format } = useLanguage();
  const nameOf = useNames();
  const number = (value: number): string => format.number(value);
  const orDash = (value: string | null): string => value ?? '–';
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [t('usage.column.time'), format.dateTime(request.created_at)],
    [t('usage.column.model'), orDash(request.model)],
    [t('usage.column.upstream'), orDash(request.upstream)],
    [t('spend.dimension.key'), nameOf('key', request.key_id)],
    [t('spend.dimension.project'), orDash(request.project)],
    [t('spend.dimension.group'), nameOf('group', request.group_id)],
    [t('spend.dimension.user'), nameOf('user', request.user_id)],
    [t('usage.column.prompt'), format.number(request.prompt_tokens)],
    [t('playground.stats.cached'), numberOf(number, request.cached_tokens)],
    [t('usage.column.completion'), format.number(request.completion_tokens)],
    ...billedUnits(request).map(([name, count]) => [t(name), format.number(count)] as const),
    [t('usage.column.cost'), numberOf((usd) => format.money(usd), request.cost)],
    [t('requests.price'), <Price key="price" request={request} />],
    [t('requests.points'), numberOf(number, request.points)],
    [t('requests.reference'), orDash(request.ref_id)],
    [t('error.request_id'), request.request_id],
  ];
  return (
    <>
      <div className="story-head">
        <RequestStatus status={request.status} />
        {request.cached ? <Badge state="neutral">{t('requests.cached')}</Badge> : null}
        <code>{request.id}</code> <CopyButton text={request.id} />
      </div>
      <Outcome request={request} />
      <Attempts attempts={request.attempts} />
      <Timeline request={request} />
      <dl className="story-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Body title={t('requests.body.request')} text={request.bodies?.request} />
      <Body title={t('requests.body.answer')} text={request.bodies?.answer} />
      {request.model === null ? null : (
        <div className="dialog-actions">
          <Link to="/playground" search={{ model: request.model }} className="button">
            {t('requests.try_model')}
          </Link>
        </div>
      )}
    </>
  );
}

/** The price of the model; none for a request that was not served. */
function Price({ request: { price, model, total_tokens: tokens } }: { readonly request: Request }) {
  const { t, format } = useLanguage();
  if (price !== null) return priceText(price, t, format);
  return model === null || tokens === 0 ? '–' : <NoPrice model={model} />;
}

/** What a request is billed by besides its tokens in and out, where it has that. */
function billedUnits({ cache_write_tokens, media_tokens, images, audio_seconds }: Request) {
  const units = [
    ['requests.unit.cache_write', cache_write_tokens],
    ['requests.unit.audio_in', media_tokens?.audio_input],
    ['requests.unit.audio_out', media_tokens?.audio_output],
    ['requests.unit.image_out', media_tokens?.image_output],
    ['requests.unit.images', images],
    ['requests.unit.audio_seconds', audio_seconds],
  ] as const;
  return units.flatMap(([name, count]) => (count ? [[name, count] as const] : []));
}

const CLIENT_LEFT = 499;

/** What a status means and what to do about it. */
function Outcome({ request }: { readonly request: Request }) {
  const { t } = useLanguage();
  const { status, error, error_code: code, repeats, upstream } = request;
  if (status === null || status < 400) return null;
  const text =
    status === CLIENT_LEFT
      ? 'requests.outcome.left'
      : upstream === null
        ? 'requests.outcome.refused'
        : 'requests.outcome.failed';
  return (
    <div className="note note-body">
      {error === null ? null : (
        <p className="note-message">
          <strong>{error}</strong> {code === null ? null : <code>{code}</code>}
        </p>
      )}
      <p>{t(text, { status })}</p>
      {code === null ? null : (
        <p>
          <a href={`/docs/errors#${encodeURIComponent(code)}`} target="_blank" rel="noreferrer">
            {t('error.more')}
          </a>
        </p>
      )}
      {repeats > 1 ? <p>{t('requests.repeats', { count: repeats })}</p> : null}
    </div>
  );
}

/** The backends that were tried, in their order, and what became of it. */
function Attempts({ attempts }: Pick<Request, 'attempts'>) {
  const { t, format } = useLanguage();
  if (attempts.length === 0) return null;
  return (
    <section aria-label={t('requests.attempts')}>
      <h2 className="story-title">{t('requests.attempts')}</h2>
      <ol className="story-attempts">
        {attempts.map(({ backend, model, outcome, reason, status, ms, cost }, place) => (
          <li key={place}>
            <Badge state={ATTEMPT_STATES[outcome]}>
              {t(reason === 'hedged' ? 'requests.attempt.hedged' : `requests.attempt.${outcome}`)}
            </Badge>{' '}
            {backend} → {model}
            {outcome === 'skipped' ? null : `, ${format.duration(ms)}`}
            {status === null ? null : `, ${status}`}
            {reason === null || reason === 'hedged' ? null : `, ${reasonText(reason, t)}`}
            {typeof cost === 'number' ? `, ${format.money(cost)}` : null}
          </li>
        ))}
      </ol>
    </section>
  );
}

function reasonText(reason: string, t: Translate): string {
  const text = textOfReason(reason);
  return text === undefined ? reason : t(text);
}

const ATTEMPT_STATES = {
  answered: 'good',
  failed: 'bad',
  left: 'warning',
  skipped: 'neutral',
} as const;

/** A body, where the policy of the service keeps it. */
function Body({
  title,
  text,
}: {
  readonly title: string;
  readonly text?: string | null | undefined;
}) {
  if (text === undefined || text === null) return null;
  return (
    <details className="details snippet">
      <summary>{title}</summary>
      <pre tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </details>
  );
}

/** How long the request waited for its first token, and then streamed. */
function Timeline({ request }: { readonly request: Request }) {
  const { t, format } = useLanguage();
  const { latency_ms: total, first_token_ms: first } = request;
  if (total === null) return null;
  const waited = first ?? total;
  return (
    <div className="story-time">
      <div className="story-bar" aria-hidden>
        <span className="story-wait" style={{ flexGrow: Math.max(1, waited) }} />
        {first === null ? null : (
          <span className="story-stream" style={{ flexGrow: Math.max(1, total - waited) }} />
        )}
      </div>
      <dl className="facts">
        <div className="fact">
          <dt>{t('usage.column.first_token')}</dt>
          <dd>{first === null ? '–' : format.duration(first)}</dd>
        </div>
        <div className="fact">
          <dt>{t('usage.column.latency')}</dt>
          <dd>{format.duration(total)}</dd>
        </div>
        {first === null || total <= first ? null : (
          <div className="fact">
            <dt>{t('playground.stats.speed')}</dt>
            <dd>
              {format.number(Math.round((request.completion_tokens / (total - first)) * 1000))}
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

const numberOf = (format: (value: number) => string, value: number | null): string =>
  value === null ? '–' : format(value);
