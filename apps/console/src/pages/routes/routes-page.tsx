import type { RpcResult } from '@model-gateway/contracts';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ROUTING_QUERIES } from '../../api/models.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { FromFile } from '../../ui/from-file.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { EditRoute } from './edit-route.tsx';
import { inOrder } from './route-draft.ts';

type Route = RpcResult<'routes.list'>[number];

const MS_PER_SECOND = 1000;

/** Where the requests for a model go. */
export function RoutesPage() {
  const { t } = useLanguage();
  const api = useApi();
  const routes = useQuery(api.query('routes.list'));
  const [editing, setEditing] = useState<Route>();
  const [isAdding, setAdding] = useCreating();
  const [removing, setRemoving] = useState<string>();
  const add = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {t('routes.add')}
    </Button>
  );
  return (
    <Page
      title={t('routes.title')}
      intro={t('routes.intro')}
      actions={
        <>
          <Link to="/routes/explain" className="button">
            {t('explain.title')}
          </Link>
          {add}
        </>
      }
      isBusy={routes.isFetching}
    >
      <ErrorNote error={routes.error} onRetry={() => void routes.refetch()} />
      {routes.isPending ? <Skeleton /> : null}
      {routes.data?.length === 0 ? <Empty text={t('routes.empty')} action={add} /> : null}
      {routes.data === undefined || routes.data.length === 0 ? null : (
        <RouteTable routes={routes.data} onEdit={setEditing} onRemove={setRemoving} />
      )}
      {editing === undefined && !isAdding ? null : (
        <EditRoute
          route={editing}
          takenModels={(routes.data ?? []).map(({ model }) => model)}
          onClose={() => {
            setEditing(undefined);
            setAdding(false);
          }}
        />
      )}
      {removing === undefined ? null : (
        <RemoveRoute model={removing} onClose={() => setRemoving(undefined)} />
      )}
    </Page>
  );
}

interface RouteTableProps {
  readonly routes: readonly Route[];
  readonly onEdit: (route: Route) => void;
  readonly onRemove: (model: string) => void;
}

function RouteTable({ routes, onEdit, onRemove }: RouteTableProps) {
  const { t, format } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Route>[] => [
      {
        id: 'model',
        header: t('routes.column.model'),
        cell: ({ model }) => <code>{model}</code>,
        sortBy: ({ model }) => model,
      },
      {
        id: 'targets',
        header: t('routes.column.targets'),
        cell: ({ targets, strategy }) => (
          <ol className="plain-list">
            {inOrder(targets).map(({ model, backend, priority, weight }) => (
              <li key={`${model} ${backend} ${priority}`}>
                <code>{backend === null ? model : `${model}@${backend}`}</code>{' '}
                <span className="card-note">
                  {t('routes.target.priority')} {format.number(priority)},{' '}
                  {strategy === 'fastest'
                    ? t('routes.target.fastest')
                    : `${t('routes.target.weight')} ${format.number(weight)}`}
                </span>
              </li>
            ))}
          </ol>
        ),
      },
      {
        id: 'attempts',
        header: t('routes.column.attempts'),
        isNumber: true,
        cell: ({ attempts }) => format.number(attempts),
      },
      {
        id: 'timeout',
        header: t('routes.column.timeout'),
        isNumber: true,
        cell: ({ timeout_secs: seconds }) =>
          seconds === null ? t('routes.timeout.none') : format.duration(seconds * MS_PER_SECOND),
      },
      {
        id: 'actions',
        header: t('routes.column.actions'),
        isHeaderHidden: true,
        cell: (route) => (
          <span className="card-actions">
            <Link
              to="/routes/explain"
              search={{ model: route.model }}
              className="button"
              aria-label={t('routes.explain.of', { model: route.model })}
            >
              {t('routes.explain')}
            </Link>
            {route.source === 'file' ? (
              <FromFile />
            ) : (
              <>
                <Button
                  aria-label={t('routes.edit.of', { model: route.model })}
                  onClick={() => onEdit(route)}
                >
                  {t('routes.edit')}
                </Button>
                <Button
                  aria-label={t('routes.remove.of', { model: route.model })}
                  onClick={() => onRemove(route.model)}
                >
                  {t('routes.remove')}
                </Button>
              </>
            )}
          </span>
        ),
      },
    ],
    [t, format, onEdit, onRemove],
  );
  return (
    <DataTable
      label={t('routes.title')}
      name="routes"
      columns={columns}
      rows={routes}
      rowId={({ model }) => model}
    />
  );
}

interface RemoveRouteProps {
  readonly model: string;
  readonly onClose: () => void;
}

function RemoveRoute({ model, onClose }: RemoveRouteProps) {
  const { t } = useLanguage();
  const remove = useCall('routes.remove', { changes: ['routes.list', ...ROUTING_QUERIES] });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('routes.remove.title', { model })}
      text={t('routes.remove.text', { model })}
      action={t('routes.remove.submit')}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ model }, { onSuccess: onClose })}
    />
  );
}
