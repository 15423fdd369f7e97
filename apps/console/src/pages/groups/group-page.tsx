import type { RpcResult } from '@model-gateway/contracts';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { allPages } from '../../api/all-pages.ts';
import { useApi, useCall, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { EditGroup } from './edit-group.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MembersPanel } from './members-panel.tsx';
import { ModelsPanel } from './models-panel.tsx';
import { PoolPanel } from './pool-panel.tsx';

const route = getRouteApi('/shell/groups');

type Group = RpcResult<'group.get'>;

/** One group: its members, invitations, model rules and points. */
export function GroupPage({ id }: { readonly id: string }) {
  const { t } = useLanguage();
  const api = useApi();
  const group = useQuery({
    ...api.query('group.get', { group_id: id }),
    queryFn: async ({ signal }) => {
      const pages = await allPages((after) =>
        api.call('group.get', { group_id: id, after }, { signal }),
      );
      return { ...pages[0], members: pages.flatMap(({ members }) => members) };
    },
  });
  const { data } = group;
  return (
    <Page
      title={data?.name ?? t('groups.title')}
      {...(data === undefined || data.description === '' ? {} : { intro: data.description })}
      isBusy={group.isFetching}
      actions={data === undefined ? null : <Actions group={data} />}
    >
      <Link to="/groups">{t('groups.all')}</Link>
      <ErrorNote error={group.error} onRetry={() => void group.refetch()} />
      {group.isPending ? <Skeleton /> : null}
      {data === undefined ? null : <Panels group={data} />}
    </Page>
  );
}

function Panels({ group }: { readonly group: Group }) {
  const { is_admin: isAdmin } = useUser();
  const canManage = isAdmin || canManageGroup(group);
  return (
    <>
      <MembersPanel group={group} canManage={canManage} />
      {canManage ? <ModelsPanel group={group} /> : null}
      {canManage ? <PoolPanel group={group} /> : null}
    </>
  );
}

function Actions({ group }: { readonly group: Group }) {
  const { t } = useLanguage();
  const { is_admin: isAdmin } = useUser();
  const [open, setOpen] = useState<'invite' | 'edit' | 'delete'>();
  const close = (): void => setOpen(undefined);
  const isOwner = group.my_role === 'owner';
  if (!isAdmin && !canManageGroup(group)) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen('invite')}>
        {t('groups.invite')}
      </Button>
      <Button onClick={() => setOpen('edit')}>{t('groups.edit')}</Button>
      <Link to="/webhooks" className="button button-plain">
        {t('webhooks.title')}
      </Link>
      {isOwner ? <Button onClick={() => setOpen('delete')}>{t('groups.delete')}</Button> : null}
      {open === 'invite' ? <InviteDialog group={group} onClose={close} /> : null}
      {open === 'edit' ? <EditGroup group={group} onClose={close} /> : null}
      {open === 'delete' ? <DeleteGroup group={group} onClose={close} /> : null}
    </>
  );
}

function DeleteGroup({ group, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const { t } = useLanguage();
  const navigate = route.useNavigate();
  const remove = useCall('group.delete', { changes: ['group.list', 'keys.list'] });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('groups.delete.title', { name: group.name })}
      text={t('groups.delete.text', { count: group.member_count })}
      action={t('groups.delete')}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(
          { group_id: group.id },
          { onSuccess: () => void navigate({ search: {}, replace: true }) },
        )
      }
    />
  );
}

const canManageGroup = ({ my_role: role }: Group): boolean => role === 'owner' || role === 'admin';
