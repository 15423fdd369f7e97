import type { RpcResult } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Badge } from '../ui/badge.tsx';
import { When, WhenButton } from '../ui/when.tsx';
import { useNames } from './use-names.ts';

/** A request of the log, which may have failed before its model was known, or a metered one. */
type Usage = Omit<RpcResult<'usage.list'>['records'][number], 'model'> & {
  readonly model: string | null;
};

const CLIENT_LEFT = 499;

interface RequestTableProps {
  readonly rows: readonly Usage[];
  /** Shows the whole story of a request. */
  readonly onOpen?: (id: string) => void;
}

/** Metered requests; also the row of the first chat on the welcome page. */
export function RequestTable({ rows, onOpen }: RequestTableProps) {
  const { t, format } = useLanguage();
  const nameOf = useNames();
  const columns = useMemo((): readonly Column<Usage>[] => {
    const number = (value: number | null): string => (value === null ? '–' : format.number(value));
    const duration = (ms: number | null): string => (ms === null ? '–' : format.duration(ms));
    return [
      {
        id: 'time',
        header: t('usage.column.time'),
        cell: ({ id, created_at: time }) =>
          onOpen === undefined ? (
            <When time={time} />
          ) : (
            <WhenButton time={time} onClick={() => onOpen(id)} />
          ),
        sortBy: ({ created_at: time }) => time,
      },
      {
        id: 'status',
        header: t('usage.column.status'),
        cell: ({ status }) => <RequestStatus status={status} />,
      },
      {
        id: 'model',
        header: t('usage.column.model'),
        isName: true,
        cell: ({ model }) => model ?? '–',
        sortBy: ({ model }) => model ?? '',
      },
      {
        id: 'upstream',
        header: t('usage.column.upstream'),
        isName: true,
        cell: ({ upstream }) => upstream ?? '–',
      },
      ...(onOpen === undefined ? [] : [keyColumn(t('spend.dimension.key'), nameOf)]),
      {
        id: 'prompt',
        header: t('usage.column.prompt'),
        isNumber: true,
        cell: ({ prompt_tokens: tokens }) => number(tokens),
        sortBy: ({ prompt_tokens: tokens }) => tokens,
      },
      {
        id: 'completion',
        header: t('usage.column.completion'),
        isNumber: true,
        cell: ({ completion_tokens: tokens }) => number(tokens),
        sortBy: ({ completion_tokens: tokens }) => tokens,
      },
      {
        id: 'first',
        header: t('usage.column.first_token'),
        isNumber: true,
        cell: ({ first_token_ms: ms }) => duration(ms),
        sortBy: ({ first_token_ms: ms }) => ms ?? 0,
      },
      {
        id: 'latency',
        header: t('usage.column.latency'),
        isNumber: true,
        cell: ({ latency_ms: ms }) => duration(ms),
        sortBy: ({ latency_ms: ms }) => ms ?? 0,
      },
      {
        id: 'cost',
        header: t('usage.column.cost'),
        isNumber: true,
        cell: ({ cost }) => (cost === null ? '–' : format.money(cost)),
        sortBy: ({ cost }) => cost ?? 0,
      },
    ];
  }, [t, format, nameOf, onOpen]);
  const onRowClick = useMemo(
    () => (onOpen === undefined ? undefined : ({ id }: Usage) => onOpen(id)),
    [onOpen],
  );
  return (
    <DataTable
      label={t('usage.title')}
      onRowClick={onRowClick}
      columns={columns}
      rows={rows}
      rowId={({ id }) => id}
      {...(onOpen === undefined ? {} : { name: 'requests' })}
    />
  );
}

const keyColumn = (header: string, nameOf: ReturnType<typeof useNames>): Column<Usage> => ({
  id: 'key',
  header,
  isName: true,
  cell: ({ key_id: id }) => nameOf('key', id),
  sortBy: ({ key_id: id }) => nameOf('key', id).toLowerCase(),
});

/** Whether a request went well. */
export function RequestStatus({ status }: Pick<Usage, 'status'>) {
  const { t } = useLanguage();
  if (status === null || status < 400) return <Badge state="good">{t('usage.status.ok')}</Badge>;
  if (status === CLIENT_LEFT) return <Badge state="warning">{t('usage.status.left')}</Badge>;
  return (
    <Badge state="bad">
      {t('usage.status.failed')} {status}
    </Badge>
  );
}
