import type { RpcResult } from '@model-gateway/contracts';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Badge, Empty, Page, Skeleton } from '../../ui/page.tsx';
import { When } from '../../ui/when.tsx';
import { CreateKey } from './create-key.tsx';

type Key = RpcResult<'keys.list'>[number];

/** The viewer's API keys. */
export function KeysPage() {
  const { t } = useLanguage();
  const api = useApi();
  const keys = useQuery(api.query('keys.list'));
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {t('keys.create')}
    </Button>
  );
  return (
    <Page title={t('keys.title')} intro={t('keys.intro')} actions={create} isBusy={keys.isFetching}>
      <ErrorNote error={keys.error} onRetry={() => void keys.refetch()} />
      {keys.isPending ? <Skeleton /> : null}
      {keys.data?.length === 0 ? <Empty text={t('keys.empty')} action={create} /> : null}
      {keys.data === undefined || keys.data.length === 0 ? null : (
        <KeyTable keys={keys.data} onRevoke={setRevoking} />
      )}
      {isCreating ? <CreateKey onClose={() => setCreating(false)} /> : null}
      {revoking === undefined ? null : (
        <RevokeKey revoked={revoking} onClose={() => setRevoking(undefined)} />
      )}
    </Page>
  );
}

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly onRevoke: (key: Key) => void;
}

function KeyTable({ keys, onRevoke }: KeyTableProps) {
  const { t } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Key>[] => [
      {
        id: 'name',
        header: t('keys.column.name'),
        cell: ({ name }) => name,
        sortBy: ({ name }) => name.toLowerCase(),
      },
      {
        id: 'hint',
        header: t('keys.column.hint'),
        cell: ({ key_hint: hint }) => <code>{hint}</code>,
      },
      {
        id: 'project',
        header: t('keys.column.project'),
        cell: ({ project }) => project,
        sortBy: ({ project }) => project,
      },
      {
        id: 'state',
        header: t('keys.column.state'),
        cell: ({ active }) => (
          <Badge state={active ? 'good' : 'neutral'}>
            {t(active ? 'keys.state.active' : 'keys.state.revoked')}
          </Badge>
        ),
      },
      {
        id: 'created',
        header: t('keys.column.created'),
        cell: ({ created_at: time }) => <When time={time} />,
        sortBy: ({ created_at: time }) => time,
      },
      {
        id: 'used',
        header: t('keys.column.used'),
        cell: ({ last_used_at: time }) => (time === null ? t('keys.never') : <When time={time} />),
        sortBy: ({ last_used_at: time }) => time ?? '',
      },
      {
        id: 'actions',
        header: t('keys.revoke'),
        isHeaderHidden: true,
        cell: (key) =>
          key.active ? (
            <Button aria-label={`${t('keys.revoke')}: ${key.name}`} onClick={() => onRevoke(key)}>
              {t('keys.revoke')}
            </Button>
          ) : null,
      },
    ],
    [t, onRevoke],
  );
  return <DataTable label={t('keys.title')} columns={columns} rows={keys} rowId={({ id }) => id} />;
}

function RevokeKey({ revoked, onClose }: { readonly revoked: Key; readonly onClose: () => void }) {
  const { t } = useLanguage();
  const revoke = useCall('keys.revoke', { changes: ['keys.list'] });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('keys.revoke.title', { name: revoked.name })}
      text={t('keys.revoke.text', { hint: revoked.key_hint })}
      action={t('keys.revoke.submit')}
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate({ key_id: revoked.id }, { onSuccess: onClose })}
    />
  );
}
