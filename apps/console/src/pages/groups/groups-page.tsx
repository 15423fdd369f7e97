import { Link, getRouteApi } from '@tanstack/react-router';
import type { RpcResult } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useRpcForm } from '../../api/use-rpc-form.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormActions } from '../../ui/form-actions.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { GroupPage } from './group-page.tsx';

const route = getRouteApi('/shell/groups');

type Group = RpcResult<'group.list'>[number];

/** The viewer's groups, or one of them. */
export function GroupsPage() {
  const { group } = route.useSearch();
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
          <Link to="/groups" search={{ group: id }}>
            {name}
          </Link>
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
  const navigate = route.useNavigate();
  // The same for a repeated click: the group is created once.
  const [id] = useState(() => crypto.randomUUID());
  const { form, text, isChanged, ...state } = useRpcForm('group.create', {
    initial: { id },
    changes: ['group.list'],
    onDone: (group) => {
      onClose();
      void navigate({ search: { group: group.id } });
    },
  });
  return (
    <Dialog isOpen onClose={onClose} title={t('groups.create')} isChanged={isChanged}>
      <form {...form}>
        <TextField label={t('groups.name')} {...text('name')} />
        <TextField label={t('groups.description')} {...text('description')} />
        <FormActions
          submit={t('groups.create')}
          isPending={state.isPending}
          error={state.error}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
