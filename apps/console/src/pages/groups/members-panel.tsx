import type { RpcResult } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Select } from '../../ui/select.tsx';
import { When } from '../../ui/when.tsx';

type Group = RpcResult<'group.get'>;
type Member = Group['members'][number];

interface MembersPanelProps {
  readonly group: Group;
  readonly canManage: boolean;
}

const ROLES = ['member', 'admin'] as const;

/** The members of a group with their roles and cost multipliers. */
export function MembersPanel({ group, canManage }: MembersPanelProps) {
  const { t, format } = useLanguage();
  const [changing, setChanging] = useState<Member | 'new'>();
  const [removing, setRemoving] = useState<Member>();
  const columns = useMemo(
    (): readonly Column<Member>[] => [
      {
        id: 'email',
        header: t('sign_in.email'),
        isName: true,
        cell: ({ email, name }) => (name === '' ? email : `${name} (${email})`),
        sortBy: ({ email }) => email,
      },
      {
        id: 'role',
        header: t('groups.role'),
        cell: ({ role, is_owner: isOwner }) => t(`groups.role.${isOwner ? 'owner' : role}`),
      },
      {
        id: 'multiplier',
        header: t('groups.multiplier'),
        isNumber: true,
        cell: ({ cost_multiplier: multiplier }) => `× ${format.number(multiplier)}`,
        sortBy: ({ cost_multiplier: multiplier }) => multiplier,
      },
      {
        id: 'joined',
        header: t('groups.joined'),
        cell: ({ joined_at: time }) => <When time={time} />,
        sortBy: ({ joined_at: time }) => time,
      },
      ...(canManage
        ? [
            {
              id: 'actions',
              header: t('keys.column.actions'),
              isHeaderHidden: true,
              cell: (member: Member) => (
                <span className="row-actions">
                  <Button
                    aria-label={`${t('keys.edit')}: ${member.email}`}
                    onClick={() => setChanging(member)}
                  >
                    {t('keys.edit')}
                  </Button>
                  {member.is_owner ? null : (
                    <Button
                      aria-label={`${t('groups.member.remove')}: ${member.email}`}
                      onClick={() => setRemoving(member)}
                    >
                      {t('groups.member.remove')}
                    </Button>
                  )}
                </span>
              ),
            },
          ]
        : []),
    ],
    [t, format, canManage],
  );
  return (
    <section className="panel" aria-label={t('groups.members')}>
      <div className="panel-head">
        <h2>{t('groups.members')}</h2>
        {canManage ? (
          <Button onClick={() => setChanging('new')}>{t('groups.member.add')}</Button>
        ) : null}
      </div>
      <DataTable
        label={t('groups.members')}
        name="members"
        columns={columns}
        rows={group.members}
        rowId={({ user_id: id }) => id}
      />
      {changing === undefined ? null : (
        <MemberDialog
          group={group}
          {...(changing === 'new' ? {} : { member: changing })}
          onClose={() => setChanging(undefined)}
        />
      )}
      {removing === undefined ? null : (
        <RemoveMember group={group} member={removing} onClose={() => setRemoving(undefined)} />
      )}
    </section>
  );
}

interface MemberDialogProps {
  readonly group: Group;
  /** Absent to add one. */
  readonly member?: Member;
  readonly onClose: () => void;
}

function MemberDialog({ group, member, onClose }: MemberDialogProps) {
  const { t } = useLanguage();
  const changes = { changes: ['group.get', 'group.list'] as const };
  const add = useCall('group.members.add', changes);
  const update = useCall('group.members.update', changes);
  const [role, setRole] = useState<(typeof ROLES)[number]>(member?.role ?? 'member');
  const error = add.error ?? update.error;
  const { fields } = problemOf(error);
  return (
    <Dialog isOpen onClose={onClose} title={member?.email ?? t('groups.member.add')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const values = {
            group_id: group.id,
            // The owner keeps the role.
            ...(member?.is_owner === true ? {} : { role }),
            cost_multiplier: Number(trimmedText(form, 'cost_multiplier')),
          };
          const done = { onSuccess: onClose };
          if (member === undefined)
            add.mutate({ ...values, email: trimmedText(form, 'email') }, done);
          else update.mutate({ ...values, user_id: member.email }, done);
        }}
      >
        {member === undefined ? (
          <TextField
            label={t('sign_in.email')}
            name="email"
            type="email"
            problem={fields['email']}
            hint={t('groups.member.add.hint')}
            required
          />
        ) : null}
        {member?.is_owner === true ? null : (
          <Select
            label={t('groups.role')}
            value={role}
            choices={ROLES.map((value) => ({ value, label: t(`groups.role.${value}`) }))}
            onChange={setRole}
          />
        )}
        <TextField
          label={t('groups.multiplier')}
          name="cost_multiplier"
          type="number"
          min={0}
          step="any"
          hint={t('groups.multiplier.hint')}
          defaultValue={member?.cost_multiplier ?? 1}
          problem={fields['cost_multiplier']}
          required
        />
        <ErrorNote error={error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={add.isPending || update.isPending}>
            {t('action.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function RemoveMember({ group, member, onClose }: Required<MemberDialogProps>) {
  const { t } = useLanguage();
  const remove = useCall('group.members.remove', {
    changes: ['group.get', 'group.list', 'keys.list'],
  });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('groups.member.remove.title', { email: member.email })}
      text={t('groups.member.remove.text', { group: group.name })}
      action={t('groups.member.remove')}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate({ group_id: group.id, user_id: member.email }, { onSuccess: onClose })
      }
    />
  );
}
