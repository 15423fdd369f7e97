import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Secret } from '../../ui/secret.tsx';
import { Select } from '../../ui/select.tsx';

interface InviteDialogProps {
  readonly group: Pick<RpcResult<'group.get'>, 'id' | 'name'>;
  readonly onClose: () => void;
}

const ROLES = ['member', 'admin'] as const;
const LENGTHS = ['86400', '604800', '2592000'] as const;

/** The token is behind the `#`, which browsers do not send: it is in no log. */
const linkOf = (token: string): string => `${location.origin}/console/invite#${token}`;

/** Creates an invitation, then shows its link once. */
export function InviteDialog({ group, onClose }: InviteDialogProps) {
  const { t, format } = useLanguage();
  const invite = useCall('group.invite.create');
  const [role, setRole] = useState<(typeof ROLES)[number]>('member');
  const [length, setLength] = useState<(typeof LENGTHS)[number]>('604800');
  if (invite.data !== undefined)
    return (
      <Dialog
        isOpen
        isPersistent
        onClose={onClose}
        title={t('groups.invite.created')}
        description={t('groups.invite.created.text', {
          time: format.dateTime(invite.data.expires_at),
        })}
      >
        <Secret text={linkOf(invite.data.token)} />
        <div className="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            {t('keys.created.done')}
          </Button>
        </div>
      </Dialog>
    );
  const { fields } = problemOf(invite.error);
  return (
    <Dialog
      isOpen
      isWaiting={invite.isPending}
      onClose={onClose}
      title={t('groups.invite.title', { name: group.name })}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const email = trimmedText(form, 'email');
          invite.mutate({
            group_id: group.id,
            role,
            ...(email === '' ? {} : { email }),
            max_uses: Number(trimmedText(form, 'max_uses')),
            ttl_secs: Number(length),
          });
        }}
      >
        <TextField
          label={t('groups.invite.email')}
          name="email"
          type="email"
          hint={t('groups.invite.email.hint')}
          problem={fields['email']}
        />
        <Select
          label={t('groups.role')}
          value={role}
          choices={ROLES.map((value) => ({ value, label: t(`groups.role.${value}`) }))}
          onChange={setRole}
        />
        <div className="form-pair">
          <TextField
            label={t('groups.invite.uses')}
            name="max_uses"
            type="number"
            min={1}
            defaultValue={1}
            problem={fields['max_uses']}
            required
          />
          <Select
            label={t('groups.invite.length')}
            value={length}
            choices={LENGTHS.map((value) => ({
              value,
              label: t(`groups.invite.length.${value}`),
            }))}
            onChange={setLength}
          />
        </div>
        <ErrorNote error={invite.error} />
        <div className="dialog-actions">
          <Button disabled={invite.isPending} onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button kind="primary" type="submit" disabled={invite.isPending}>
            {t('groups.invite')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
