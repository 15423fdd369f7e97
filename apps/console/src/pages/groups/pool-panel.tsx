import { randomId } from '@model-gateway/client';
import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApi, useCall, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { LedgerTable } from '../../ui/ledger-table.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';

type Group = RpcResult<'group.get'>;

/** The points of a group, and giving them to members. */
export function PoolPanel({ group }: { readonly group: Group }) {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const pool = useQuery(api.query('group.credits.balance', { group_id: group.id }));
  const [open, setOpen] = useState<'allocate' | 'topup'>();
  return (
    <section className="panel" aria-label={t('groups.pool')}>
      <div className="panel-head">
        <h2>{t('groups.pool')}</h2>
        <span className="row-actions">
          <Button onClick={() => setOpen('allocate')}>{t('groups.allocate')}</Button>
          {isAdmin ? <Button onClick={() => setOpen('topup')}>{t('groups.topup')}</Button> : null}
        </span>
      </div>
      <ErrorNote error={pool.error} onRetry={() => void pool.refetch()} />
      {pool.isPending ? <Skeleton /> : null}
      {pool.data === undefined ? null : (
        <LedgerTable ledger={pool.data} empty={t('groups.pool.empty')} />
      )}
      {open === undefined ? null : (
        <MovePoints group={group} kind={open} onClose={() => setOpen(undefined)} />
      )}
    </section>
  );
}

interface MovePointsProps {
  readonly group: Group;
  readonly kind: 'allocate' | 'topup';
  readonly onClose: () => void;
}

function MovePoints({ group, kind, onClose }: MovePointsProps) {
  const { t } = useLanguage();
  const changes = { changes: ['group.credits.balance', 'ledger.self', 'billing.plan'] as const };
  const allocate = useCall('group.credits.allocate', changes);
  const topup = useCall('group.credits.topup', changes);
  const [member, setMember] = useState(group.members[0]?.email ?? '');
  // A repeated click moves the points once.
  const [key] = useState(() => randomId());
  const error = allocate.error ?? topup.error;
  const { fields } = problemOf(error);
  return (
    <Dialog isOpen onClose={onClose} title={t(`groups.${kind}`)}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const note = trimmedText(form, 'note');
          const movement = {
            group_id: group.id,
            points: Number(trimmedText(form, 'points')),
            ...(note === '' ? {} : { note }),
            idempotency_key: key,
          };
          const done = { onSuccess: onClose };
          if (kind === 'allocate') allocate.mutate({ ...movement, user_id: member }, done);
          else topup.mutate(movement, done);
        }}
      >
        {kind === 'allocate' ? (
          <Select
            label={t('groups.allocate.to')}
            value={member}
            choices={group.members.map(({ email }) => ({ value: email, label: email }))}
            onChange={setMember}
          />
        ) : null}
        <TextField
          label={t('plan.points')}
          name="points"
          type="number"
          min={1}
          problem={fields['points']}
          required
        />
        <TextField label={t('ledger.note')} name="note" problem={fields['note']} />
        <ErrorNote error={error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={allocate.isPending || topup.isPending}>
            {t(`groups.${kind}`)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
