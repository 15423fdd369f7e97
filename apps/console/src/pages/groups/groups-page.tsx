import type { RpcResult } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Empty, Page, Skeleton } from '../../ui/page.tsx';
import { RowLink } from '../../ui/row-link.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { GroupPage } from './group-page.tsx';
import { groupsRoute } from './route.ts';

type Group = RpcResult<'group.list'>[number];

/** The viewer's groups, or one of them. */
export function GroupsPage() {
  const { group } = groupsRoute.useSearch();
  return group === undefined ? <GroupList /> : <GroupPage key={group} id={group} />;
}

function GroupList() {
  const { t } = useLanguage();
  const api = useApi();
  const groups = useQuery(api.query('group.list'));
  const [isCreating, setCreating] = useCreating();
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {t('groups.create')}
    </Button>
  );
  const columns = useMemo(
    (): readonly Column<Group>[] => [
      {
        id: 'name',
        header: t('groups.name'),
        isName: true,
        cell: ({ id, name }) => (
          <RowLink to="/groups" search={{ group: id }}>
            {name}
          </RowLink>
        ),
        sortBy: ({ name }) => name.toLowerCase(),
      },
      {
        id: 'description',
        header: t('groups.description'),
        isName: true,
        cell: (group) => group.description,
      },
      {
        id: 'role',
        header: t('groups.role'),
        cell: ({ my_role: role }) => t(`groups.role.${role ?? 'none'}`),
      },
      {
        id: 'members',
        header: t('groups.members'),
        isNumber: true,
        cell: ({ member_count: count }) => count,
        sortBy: ({ member_count: count }) => count,
      },
    ],
    [t],
  );
  return (
    <Page
      title={t('groups.title')}
      intro={t('groups.intro')}
      actions={create}
      isBusy={groups.isFetching}
    >
      <ErrorNote error={groups.error} onRetry={() => void groups.refetch()} />
      {groups.isPending ? <Skeleton /> : null}
      {groups.data?.length === 0 ? <Empty text={t('groups.empty')} action={create} /> : null}
      {groups.data === undefined || groups.data.length === 0 ? null : (
        <DataTable
          label={t('groups.title')}
          name="groups"
          columns={columns}
          rows={groups.data}
          rowId={({ id }) => id}
        />
      )}
      {isCreating ? <CreateGroup onClose={() => setCreating(false)} /> : null}
    </Page>
  );
}

function CreateGroup({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const navigate = groupsRoute.useNavigate();
  const create = useCall('group.create', { changes: ['group.list'] });
  // The same for a repeated click: the group is created once.
  const [id] = useState(() => crypto.randomUUID());
  const { fields } = problemOf(create.error);
  return (
    <Dialog isOpen onClose={onClose} title={t('groups.create')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          create.mutate(
            {
              id,
              name: trimmedText(form, 'name'),
              description: trimmedText(form, 'description'),
            },
            {
              onSuccess: (group) => {
                onClose();
                void navigate({ search: { group: group.id } });
              },
            },
          );
        }}
      >
        <TextField label={t('groups.name')} name="name" problem={fields['name']} required />
        <TextField
          label={t('groups.description')}
          name="description"
          problem={fields['description']}
        />
        <ErrorNote error={create.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={create.isPending}>
            {t('groups.create')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
