import { getRouteApi } from '@tanstack/react-router';
import type { RpcResult } from '@model-gateway/contracts';
import { memo, useMemo, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { matching } from '../../ui/matching.ts';
import { SearchField } from '../../ui/search-field.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { When } from '../../ui/when.tsx';
import { CreateKey } from './create-key.tsx';
import { EditKey, RevokeKey, RotateKey } from './key-dialogs.tsx';
import { keyState, previousUntil } from './key-settings.ts';

const route = getRouteApi('/shell/keys');

type Key = RpcResult<'keys.list'>[number];

const ACTIONS = ['edit', 'rotate', 'revoke'] as const;
type Action = (typeof ACTIONS)[number];
/** Fewer are seen at once. */
const SEARCHED_MIN = 10;

/** The viewer's API keys. */
export function KeysPage() {
  const { t } = useLanguage();
  const api = useApi();
  const keys = useQuery(api.query('keys.list'));
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const shown = useMemo(
    () => matching(keys.data ?? [], find, { nameOf: searchedText, max: Infinity }),
    [keys.data, find],
  );
  const isSearched = find !== '' || (keys.data ?? []).length > SEARCHED_MIN;
  const [isCreating, setCreating] = useCreating();
  const [changing, setChanging] = useState<{ readonly key: Key; readonly action: Action }>();
  const close = (): void => setChanging(undefined);
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
      {isSearched ? (
        <SearchField
          label={t('keys.find')}
          value={find}
          onChange={(text) =>
            navigate({ search: text === '' ? {} : { find: text }, replace: true })
          }
        />
      ) : null}
      {keys.data !== undefined && keys.data.length > 0 && shown.length === 0 ? (
        <Empty text={t('keys.none_found')} />
      ) : null}
      {shown.length === 0 ? null : <KeyTable keys={shown} onChange={setChanging} />}
      {isCreating ? <CreateKey onClose={() => setCreating(false)} /> : null}
      {changing?.action === 'edit' ? <EditKey subject={changing.key} onClose={close} /> : null}
      {changing?.action === 'rotate' ? <RotateKey subject={changing.key} onClose={close} /> : null}
      {changing?.action === 'revoke' ? <RevokeKey subject={changing.key} onClose={close} /> : null}
    </Page>
  );
}

const searchedText = ({ name, key_hint: hint, project }: Key): string =>
  `${name} ${hint} ${project}`;

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly onChange: (change: { readonly key: Key; readonly action: Action }) => void;
}

/** Not rendered again when a dialog opens above it. */
const KeyTable = memo(function KeyTable({ keys, onChange }: KeyTableProps) {
  const { t } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Key>[] => [
      {
        id: 'name',
        header: t('keys.column.name'),
        isName: true,
        cell: ({ name, key_hint: hint }) => (
          <span>
            {name} <code className="key-hint">{hint}</code>
          </span>
        ),
        sortBy: ({ name }) => name.toLowerCase(),
      },
      {
        id: 'project',
        header: t('keys.column.project'),
        isName: true,
        cell: ({ project }) => project,
        sortBy: ({ project }) => project,
      },
      {
        id: 'state',
        header: t('keys.column.state'),
        cell: (key) => {
          const state = keyState(key, Date.now());
          return <Badge state={BADGES[state]}>{t(`keys.state.${state}`)}</Badge>;
        },
      },
      {
        id: 'limits',
        header: t('keys.limits'),
        cell: (key) => <Limits limited={key} />,
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
        header: t('keys.column.actions'),
        isHeaderHidden: true,
        cell: (key) =>
          key.revoked_at === null ? (
            <span className="row-actions">
              {ACTIONS.map((action) => (
                <Button
                  key={action}
                  aria-label={`${t(`keys.${action}`)}: ${key.name}`}
                  onClick={() => onChange({ key, action })}
                >
                  {t(`keys.${action}`)}
                </Button>
              ))}
            </span>
          ) : null,
      },
    ],
    [t, onChange],
  );
  return (
    <DataTable
      label={t('keys.title')}
      name="keys"
      columns={columns}
      rows={keys}
      rowId={({ id }) => id}
    />
  );
});

const BADGES = {
  active: 'good',
  revoked: 'neutral',
  expired: 'bad',
  inactive: 'bad',
  exhausted: 'bad',
} as const;

/** The limits that a key has, each in a few words. */
function Limits({ limited }: { readonly limited: Key }) {
  const { t, format } = useLanguage();
  const { expires_at: end, rpm, tpm, models, addresses } = limited;
  const previous = previousUntil(limited, Date.now());
  const { budget_usd: budget, budget_used_usd: used } = limited;
  const texts = [
    ...(budget === null
      ? []
      : [t('keys.limit.budget', { used: format.money(used ?? 0), limit: format.money(budget) })]),
    ...(end === null ? [] : [t('keys.limit.expires', { time: format.dateTime(end) })]),
    ...(rpm === null ? [] : [t('keys.limit.rpm', { limit: rpm })]),
    ...(tpm === null ? [] : [t('keys.limit.tpm', { limit: tpm })]),
    ...(models === null ? [] : [models.join(', ')]),
    ...(addresses === null ? [] : [addresses.join(', ')]),
    ...(previous === undefined
      ? []
      : [t('keys.limit.previous', { time: format.dateTime(previous) })]),
  ];
  return texts.length === 0 ? (
    t('keys.limit.none')
  ) : (
    <ul className="plain-list">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
