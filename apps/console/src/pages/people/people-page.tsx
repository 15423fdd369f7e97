import { getRouteApi } from '@tanstack/react-router';
import type { RpcResult } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useInfiniteQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { When } from '../../ui/when.tsx';
import { ManagePerson } from './manage-person.tsx';

const route = getRouteApi('/shell/people');

type Account = RpcResult<'users.list'>['users'][number];

const ROWS = 50;

/** All accounts; admins change, deactivate and erase them. */
export function PeoplePage() {
  const { t } = useLanguage();
  const api = useApi();
  const { find: search = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const [managed, setManaged] = useState<string>();
  const people = useInfiniteQuery({
    queryKey: ['users.list', { search }],
    queryFn: ({ signal, pageParam }) =>
      api.call(
        'users.list',
        { limit: ROWS, after: pageParam, ...(search.trim() === '' ? {} : { search }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ after }) => after,
  });
  const accounts = useMemo(
    () => people.data?.pages.flatMap(({ users }) => users) ?? [],
    [people.data],
  );
  const account = accounts.find(({ id }) => id === managed);
  return (
    <Page title={t('people.title')} intro={t('people.intro')} isBusy={people.isFetching}>
      <SearchField
        label={t('people.search')}
        value={search}
        onChange={(text) => navigate({ search: text === '' ? {} : { find: text }, replace: true })}
      />
      <ErrorNote error={people.error} onRetry={() => void people.refetch()} />
      {people.isPending ? <Skeleton /> : null}
      {people.data !== undefined && accounts.length === 0 ? (
        <Empty text={t('people.none')} />
      ) : null}
      {accounts.length === 0 ? null : <PeopleTable accounts={accounts} onManage={setManaged} />}
      {people.hasNextPage ? (
        <div className="card-actions">
          <Button onClick={() => void people.fetchNextPage()}>{t('people.more')}</Button>
          <span className="field-hint">{t('table.sorted_part', { count: accounts.length })}</span>
        </div>
      ) : null}
      {account === undefined ? null : (
        <ManagePerson account={account} onClose={() => setManaged(undefined)} />
      )}
    </Page>
  );
}

interface PeopleTableProps {
  readonly accounts: readonly Account[];
  readonly onManage: (userId: string) => void;
}

function PeopleTable({ accounts, onManage }: PeopleTableProps) {
  const { t, format } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Account>[] => [
      {
        id: 'email',
        header: t('people.column.email'),
        isName: true,
        cell: ({ email }) => email,
        sortBy: ({ email }) => email,
      },
      { id: 'name', header: t('people.column.name'), isName: true, cell: ({ name }) => name },
      {
        id: 'role',
        header: t('people.column.role'),
        cell: ({ is_admin: isAdmin }) => t(isAdmin ? 'people.role.admin' : 'people.role.user'),
        sortBy: ({ is_admin: isAdmin }) => Number(isAdmin),
      },
      {
        id: 'state',
        header: t('people.column.state'),
        cell: (account) => <PersonState account={account} />,
      },
      {
        id: 'tier',
        header: t('people.column.tier'),
        cell: ({ tier }) => tier,
        sortBy: ({ tier }) => tier,
      },
      {
        id: 'keys',
        header: t('people.column.keys'),
        isNumber: true,
        cell: ({ active_keys: count }) => format.number(count),
        sortBy: ({ active_keys: count }) => count,
      },
      {
        id: 'seen',
        header: t('people.column.seen'),
        cell: ({ last_sign_in_at: time }) =>
          time === null ? t('people.seen.never') : <When time={time} />,
        sortBy: ({ last_sign_in_at: time }) => time ?? '',
      },
      {
        id: 'actions',
        header: t('people.column.actions'),
        isHeaderHidden: true,
        cell: ({ id, email, erased_at: erasedAt }) =>
          erasedAt === null ? (
            <Button aria-label={t('people.manage.of', { email })} onClick={() => onManage(id)}>
              {t('people.manage')}
            </Button>
          ) : null,
      },
    ],
    [t, format, onManage],
  );
  return (
    <DataTable
      label={t('people.title')}
      name="people"
      columns={columns}
      rows={accounts}
      rowId={({ id }) => id}
    />
  );
}

function PersonState({ account }: { readonly account: Account }) {
  const { t } = useLanguage();
  if (account.erased_at !== null) return <Badge state="neutral">{t('people.state.erased')}</Badge>;
  return account.active ? (
    <Badge state="good">{t('people.state.active')}</Badge>
  ) : (
    <Badge state="warning">{t('people.state.inactive')}</Badge>
  );
}
