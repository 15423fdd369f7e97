import type { RpcResult } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useInfiniteQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { When } from '../../ui/when.tsx';

type Delivery = RpcResult<'webhooks.deliveries'>['deliveries'][number];

interface DeliveriesProps {
  readonly webhook: RpcResult<'webhooks.list'>['webhooks'][number];
  readonly onClose: () => void;
}

const ROWS = 20;
/** While one waits: the receiver answers within seconds. */
const LIVE_MS = 1000;
const STATES = { pending: 'neutral', delivered: 'good', failed: 'bad' } as const;

/** What was sent to a webhook, newest first, and a button that sends a test. */
export function Deliveries({ webhook: { id, url }, onClose }: DeliveriesProps) {
  const { t } = useLanguage();
  const api = useApi();
  const test = useCall('webhooks.test', { changes: ['webhooks.deliveries'] });
  const list = useInfiniteQuery({
    queryKey: ['webhooks.deliveries', id],
    queryFn: ({ signal, pageParam }) =>
      api.call(
        'webhooks.deliveries',
        { webhook_id: id, limit: ROWS, before: pageParam },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ before }) => before,
    // The service stores a delivery shortly after the call that caused it.
    refetchInterval: ({ state }) => {
      const known = (state.data?.pages ?? []).flatMap(({ deliveries }) => deliveries);
      const isMissing =
        test.data !== undefined &&
        known.every(({ event_id: eventId }) => eventId !== test.data.event_id);
      const isWaiting = known.some(
        ({ status, attempts }) => status === 'pending' && attempts === 0,
      );
      return isMissing || isWaiting ? LIVE_MS : false;
    },
  });
  const rows = list.data?.pages.flatMap(({ deliveries }) => deliveries) ?? [];
  return (
    <Dialog isOpen onClose={onClose} title={t('webhooks.deliveries')} description={url}>
      <ErrorNote error={test.error ?? list.error} onRetry={() => void list.refetch()} />
      {list.isPending ? <Skeleton /> : null}
      {list.data !== undefined && rows.length === 0 ? (
        <Empty text={t('webhooks.deliveries.none')} />
      ) : null}
      {rows.length === 0 ? null : <DeliveryTable rows={rows} />}
      <div className="dialog-actions">
        {list.hasNextPage ? (
          <Button onClick={() => void list.fetchNextPage()}>{t('webhooks.deliveries.more')}</Button>
        ) : null}
        <Button disabled={test.isPending} onClick={() => test.mutate({ webhook_id: id })}>
          {t('webhooks.test')}
        </Button>
        <Button kind="primary" onClick={onClose}>
          {t('action.close')}
        </Button>
      </div>
    </Dialog>
  );
}

function DeliveryTable({ rows }: { readonly rows: readonly Delivery[] }) {
  const { t, format } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Delivery>[] => [
      {
        id: 'time',
        header: t('webhooks.column.time'),
        cell: ({ created_at: time }) => <When time={time} />,
      },
      {
        id: 'event',
        header: t('webhooks.column.event'),
        cell: ({ event }) => <code>{event}</code>,
      },
      {
        id: 'state',
        header: t('webhooks.column.state'),
        cell: (delivery) => <DeliveryState delivery={delivery} />,
      },
      {
        id: 'attempts',
        header: t('webhooks.column.attempts'),
        isNumber: true,
        cell: ({ attempts }) => format.number(attempts),
      },
    ],
    [t, format],
  );
  return (
    <DataTable
      label={t('webhooks.deliveries')}
      columns={columns}
      rows={rows}
      rowId={({ id }) => id}
    />
  );
}

function DeliveryState({ delivery }: { readonly delivery: Delivery }) {
  const { t } = useLanguage();
  const { status, response_status: answered, error, next_attempt_at: next } = delivery;
  return (
    <div className="delivery-state">
      <Badge state={STATES[status]}>
        {t(`webhooks.state.${status}`)}
        {answered === null ? '' : ` (${answered})`}
      </Badge>
      {error === null ? null : <small>{error}</small>}
      {next === null || delivery.attempts === 0 ? null : (
        <small>
          {t('webhooks.next')} <When time={next} />
        </small>
      )}
    </div>
  );
}
