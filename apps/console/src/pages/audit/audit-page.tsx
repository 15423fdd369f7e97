import { getRouteApi } from '@tanstack/react-router';
import type { RpcResult } from '@model-gateway/contracts';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { When } from '../../ui/when.tsx';
import { verifyChain } from './verify-chain.ts';

const route = getRouteApi('/shell/audit');

type Entry = RpcResult<'audit.list'>['entries'][number];

const ROWS = 50;

/** Who changed what, and whether the log is whole. */
export function AuditPage() {
  const { t } = useLanguage();
  const api = useApi();
  const { action = '', before } = route.useSearch();
  const navigate = route.useNavigate();
  const go = (next: {
    readonly before?: number | undefined;
    readonly action?: string;
  }): Promise<void> => {
    const wanted = { action, ...next };
    return navigate({
      search: {
        ...(wanted.action === '' ? {} : { action: wanted.action }),
        ...(wanted.before === undefined ? {} : { before: wanted.before }),
      },
      // Typing is one step back in the history, not one for each character.
      replace: next.action !== undefined,
    });
  };
  const [shown, setShown] = useState<Entry>();
  const log = useQuery(
    api.query('audit.list', {
      limit: ROWS,
      ...(before === undefined ? {} : { before }),
      ...(action.trim() === '' ? {} : { action: action.trim() }),
    }),
  );
  const entries = log.data?.entries ?? [];
  const older = log.data?.before ?? undefined;
  return (
    <Page title={t('audit.title')} intro={t('audit.intro')} isBusy={log.isFetching}>
      <Verification />
      <SearchField
        label={t('audit.action')}
        hint={t('audit.action.hint')}
        value={action}
        onChange={(text) => go({ action: text })}
      />
      <ErrorNote error={log.error} onRetry={() => void log.refetch()} />
      {log.isPending ? <Skeleton /> : null}
      {log.data !== undefined && entries.length === 0 ? <Empty text={t('audit.empty')} /> : null}
      {entries.length === 0 ? null : <AuditTable entries={entries} onShow={setShown} />}
      <div className="card-actions">
        {before === undefined ? null : (
          <Button onClick={() => void go({})}>{t('audit.newest')}</Button>
        )}
        {log.data?.has_more === true ? (
          <Button onClick={() => void go({ before: older })}>{t('audit.older')}</Button>
        ) : null}
      </div>
      {shown === undefined ? null : (
        <AuditDetails entry={shown} onClose={() => setShown(undefined)} />
      )}
    </Page>
  );
}

function Verification() {
  const { t } = useLanguage();
  const api = useApi();
  const [checked, setChecked] = useState(0);
  const verify = useMutation({
    mutationFn: () => {
      setChecked(0);
      return verifyChain(api, setChecked);
    },
  });
  const broken = verify.data?.broken;
  return (
    <div className="card-actions">
      <Button disabled={verify.isPending} onClick={() => verify.mutate()}>
        {t('audit.verify')}
      </Button>
      <span role="status">
        {verify.isPending ? t('audit.verifying', { count: checked }) : null}
        {verify.data === undefined || verify.isPending
          ? null
          : broken === undefined
            ? t('audit.verified', { count: verify.data.checked })
            : t('audit.broken', { seq: broken.seq, reason: broken.reason })}
      </span>
      <ErrorNote error={verify.error} />
    </div>
  );
}

interface AuditTableProps {
  readonly entries: readonly Entry[];
  readonly onShow: (entry: Entry) => void;
}

function AuditTable({ entries, onShow }: AuditTableProps) {
  const { t } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Entry>[] => [
      { id: 'time', header: t('audit.column.time'), cell: ({ at }) => <When time={at} /> },
      {
        id: 'actor',
        header: t('audit.column.actor'),
        cell: ({ actor, actor_email: email }) =>
          actor === 'user' ? (email ?? t('audit.actor.erased')) : t(`audit.actor.${actor}`),
      },
      {
        id: 'action',
        header: t('audit.action'),
        cell: ({ action }) => <code>{action}</code>,
      },
      {
        id: 'target',
        header: t('audit.column.target'),
        cell: ({ target }) => (target === null ? '–' : <code>{target}</code>),
      },
      {
        id: 'details',
        header: t('audit.column.details'),
        isHeaderHidden: true,
        cell: (entry) => (
          <Button
            aria-label={t('audit.details.of', { seq: entry.seq })}
            onClick={() => onShow(entry)}
          >
            {t('audit.details')}
          </Button>
        ),
      },
    ],
    [t, onShow],
  );
  return (
    <DataTable
      label={t('audit.title')}
      columns={columns}
      rows={entries}
      rowId={({ seq }) => String(seq)}
    />
  );
}

function AuditDetails({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const { t, format } = useLanguage();
  return (
    <Dialog isOpen onClose={onClose} title={t('audit.details.title', { seq: entry.seq })}>
      <dl className="card-facts">
        <dt>{t('audit.column.time')}</dt>
        <dd>{format.dateTime(entry.at)}</dd>
        <dt>{t('audit.action')}</dt>
        <dd>
          <code>{entry.action}</code>
        </dd>
        <dt>{t('audit.column.target')}</dt>
        <dd>
          <code>{entry.target ?? '–'}</code>
        </dd>
        <dt>{t('audit.address')}</dt>
        <dd>
          <code>{entry.client_ip}</code>
        </dd>
        <dt>{t('audit.request_id')}</dt>
        <dd>
          <code>{entry.request_id}</code>
        </dd>
      </dl>
      <State title={t('audit.before')} value={entry.before} />
      <State title={t('audit.after')} value={entry.after} />
    </Dialog>
  );
}

function State({ title, value }: { readonly title: string; readonly value: unknown }) {
  const { t } = useLanguage();
  return (
    <div className="field">
      <h3 className="field-label">{title}</h3>
      <CodeBlock
        label={title}
        code={
          value === null || value === undefined
            ? t('state.none')
            : JSON.stringify(value, undefined, 2)
        }
        wraps
      />
    </div>
  );
}
