import './webhooks.css';
import type { RpcResult } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useInfiniteQuery, useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { FromFile } from '../../ui/from-file.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { When } from '../../ui/when.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { CreateWebhook } from './create-webhook.tsx';
import { Deliveries } from './deliveries.tsx';

type Webhook = RpcResult<'webhooks.list'>['webhooks'][number];
type Opened = { readonly webhook: Webhook; readonly dialog: 'deliveries' | 'remove' };

const ROWS = 50;

/** Where events are sent: admins have webhooks for everything, managers of a group for its events. */
export function WebhooksPage() {
  const { t } = useLanguage();
  const api = useApi();
  const list = useInfiniteQuery({
    queryKey: ['webhooks.list'],
    queryFn: ({ signal, pageParam }) =>
      api.call('webhooks.list', { limit: ROWS, after: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ after }) => after,
  });
  const [isCreating, setCreating] = useCreating();
  const [opened, setOpened] = useState<Opened>();
  const webhooks = list.data?.pages.flatMap((page) => page.webhooks) ?? [];
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {t('webhooks.create')}
    </Button>
  );
  return (
    <Page
      title={t('webhooks.title')}
      intro={t('webhooks.intro')}
      isBusy={list.isFetching && !list.isPending}
      actions={webhooks.length === 0 ? undefined : create}
    >
      <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending ? <Skeleton /> : null}
      {list.data !== undefined && webhooks.length === 0 ? (
        <Empty text={t('webhooks.empty')} action={create} />
      ) : null}
      {webhooks.length === 0 ? null : <WebhookTable webhooks={webhooks} onOpen={setOpened} />}
      {list.hasNextPage ? (
        <div>
          <Button onClick={() => void list.fetchNextPage()}>{t('webhooks.more')}</Button>
        </div>
      ) : null}
      {isCreating ? <CreateWebhook onClose={() => setCreating(false)} /> : null}
      {opened?.dialog === 'deliveries' ? (
        <Deliveries webhook={opened.webhook} onClose={() => setOpened(undefined)} />
      ) : null}
      {opened?.dialog === 'remove' ? (
        <RemoveWebhook webhook={opened.webhook} onClose={() => setOpened(undefined)} />
      ) : null}
    </Page>
  );
}

interface WebhookTableProps {
  readonly webhooks: readonly Webhook[];
  readonly onOpen: (opened: Opened) => void;
}

function WebhookTable({ webhooks, onOpen }: WebhookTableProps) {
  const { t } = useLanguage();
  const api = useApi();
  const groups = useQuery(api.query('group.list')).data;
  const columns = useMemo(
    (): readonly Column<Webhook>[] => [
      {
        id: 'url',
        header: t('webhooks.url'),
        cell: ({ url }) => <span className="webhook-url">{url}</span>,
        sortBy: ({ url }) => url,
      },
      {
        id: 'events',
        header: t('webhooks.events'),
        cell: ({ events }) => (
          <ul className="plain-list">
            {events.map((event) => (
              <li key={event}>{t(`webhooks.event.${event}`)}</li>
            ))}
          </ul>
        ),
      },
      {
        id: 'owner',
        header: t('webhooks.owner'),
        cell: ({ group_id: id }) =>
          id === null
            ? t('webhooks.owner.platform')
            : (groups?.find((group) => group.id === id)?.name ?? id),
      },
      {
        id: 'format',
        header: t('webhooks.format'),
        cell: ({ format }) => t(`webhooks.format.${format}`),
      },
      {
        id: 'created',
        header: t('webhooks.created'),
        cell: ({ created_at: time }) => <When time={time} />,
        sortBy: ({ created_at: time }) => time,
      },
      {
        id: 'actions',
        header: t('people.column.actions'),
        isHeaderHidden: true,
        cell: (webhook) => (
          <div className="row-actions">
            <Button
              aria-label={t('webhooks.deliveries.of', { url: webhook.url })}
              onClick={() => onOpen({ webhook, dialog: 'deliveries' })}
            >
              {t('webhooks.deliveries')}
            </Button>
            {webhook.source === 'file' ? (
              <FromFile />
            ) : (
              <Button
                aria-label={t('webhooks.remove.of', { url: webhook.url })}
                onClick={() => onOpen({ webhook, dialog: 'remove' })}
              >
                {t('webhooks.remove')}
              </Button>
            )}
          </div>
        ),
      },
    ],
    [t, groups, onOpen],
  );
  return (
    <DataTable
      label={t('webhooks.title')}
      name="webhooks"
      columns={columns}
      rows={webhooks}
      rowId={({ id }) => id}
    />
  );
}

interface RemoveWebhookProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

function RemoveWebhook({ webhook: { id, url }, onClose }: RemoveWebhookProps) {
  const { t } = useLanguage();
  const remove = useCall('webhooks.remove', { changes: ['webhooks.list'] });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('webhooks.remove.title')}
      text={t('webhooks.remove.text', { url })}
      action={t('webhooks.remove.submit')}
      onConfirm={() => remove.mutate({ webhook_id: id }, { onSuccess: onClose })}
      isPending={remove.isPending}
      error={remove.error}
    />
  );
}
