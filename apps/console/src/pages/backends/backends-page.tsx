import './backends.css';
import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { ROUTING_QUERIES } from '../../api/models.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { askSummary } from '../../spend/summary.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { AddBackend } from './add-backend.tsx';
import { BackendCard } from './backend-card.tsx';
import { EditBackend } from './edit-backend.tsx';
import { kindsQuery, type BackendKind } from './kinds.ts';

type BackendRow = RpcResult<'backends.list'>[number];

const AGAIN_MS = 5000;
const DAY_MS = 86_400_000;

/** The backends with their state; admins add, test, change and remove them. */
export function BackendsPage() {
  const { t } = useLanguage();
  const api = useApi();
  const backends = useQuery({ ...api.query('backends.list'), refetchInterval: AGAIN_MS });
  const kinds = useQuery(kindsQuery(api));
  const kindOf = ({ type }: BackendRow): BackendKind | undefined =>
    kinds.data?.find(({ name }) => name === type);
  const usage = useQuery({
    queryKey: ['usage.summary', 'backends'],
    queryFn: ({ signal }) =>
      askSummary(
        api,
        {
          scope: 'all',
          group_by: 'upstream',
          from: new Date(Date.now() - DAY_MS).toISOString(),
        },
        { signal },
      ),
  });
  const [isAdding, setAdding] = useCreating();
  const [editing, setEditing] = useState<BackendRow>();
  const [removing, setRemoving] = useState<BackendRow>();
  const all = backends.data ?? [];
  const editingKind = editing && kindOf(editing);
  const add = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {t('backends.add')}
    </Button>
  );
  return (
    <Page title={t('backends.title')} intro={t('backends.intro')} actions={add}>
      <ErrorNote
        error={backends.error ?? kinds.error}
        onRetry={() => void Promise.all([backends.refetch(), kinds.refetch()])}
      />
      {backends.isPending ? <Skeleton /> : null}
      {backends.data?.length === 0 ? <Empty text={t('backends.empty')} action={add} /> : null}
      {all.length === 0 ? null : (
        <ul className="cards">
          {all.map((backend) => (
            <BackendCard
              key={backend.name}
              backend={backend}
              kind={kindOf(backend)}
              sums={usage.data?.groups.find(({ key }) => key === backend.name)}
              onEdit={() => setEditing(backend)}
              onRemove={() => setRemoving(backend)}
            />
          ))}
        </ul>
      )}
      {isAdding ? (
        <AddBackend takenNames={all.map(({ name }) => name)} onClose={() => setAdding(false)} />
      ) : null}
      {editing === undefined || editingKind === undefined ? null : (
        <EditBackend backend={editing} kind={editingKind} onClose={() => setEditing(undefined)} />
      )}
      {removing === undefined ? null : (
        <RemoveBackend backend={removing} all={all} onClose={() => setRemoving(undefined)} />
      )}
    </Page>
  );
}

interface RemoveBackendProps {
  readonly backend: BackendRow;
  readonly all: readonly BackendRow[];
  readonly onClose: () => void;
}

function RemoveBackend({ backend, all, onClose }: RemoveBackendProps) {
  const { t } = useLanguage();
  const remove = useCall('backends.remove', { changes: ['backends.list', ...ROUTING_QUERIES] });
  const elsewhere = new Set(
    all.flatMap(({ name, models }) => (name === backend.name ? [] : models)),
  );
  const lost = backend.models.filter((model) => !elsewhere.has(model));
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('backends.remove.title', { name: backend.name })}
      text={
        lost.length === 0
          ? t('backends.remove.text.none')
          : t('backends.remove.text', { models: lost.join(', ') })
      }
      action={t('backends.remove.submit')}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ name: backend.name }, { onSuccess: onClose })}
    />
  );
}
