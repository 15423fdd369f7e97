import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Select } from '../../ui/select.tsx';

interface ManagePersonProps {
  readonly account: RpcResult<'users.list'>['users'][number];
  readonly onClose: () => void;
}

const CHANGES = ['users.list'] as const;

/** What an admin can do with one account. */
export function ManagePerson({ account, onClose }: ManagePersonProps) {
  const { t } = useLanguage();
  const api = useApi();
  const tiers = useQuery(api.query('billing.plan')).data?.tiers ?? [];
  const update = useCall('users.update', { changes: CHANGES });
  const reset = useCall('users.reset_link');
  const [isErasing, setErasing] = useState(false);
  const { id, email, is_admin: isAdmin, active, tier } = account;
  const names = [...new Set([tier, ...tiers.map(({ name }) => name)])];
  if (isErasing) return <ErasePerson account={account} onClose={onClose} />;
  return (
    <Dialog isOpen onClose={onClose} title={email}>
      <Select
        label={t('people.tier')}
        value={tier}
        choices={names.map((name) => ({ value: name, label: name }))}
        isDisabled={update.isPending}
        onChange={(name) => update.mutate({ user_id: id, tier: name })}
      />
      <div className="card-actions">
        <Button
          disabled={update.isPending}
          onClick={() => update.mutate({ user_id: id, is_admin: !isAdmin })}
        >
          {t(isAdmin ? 'people.admin.take' : 'people.admin.make')}
        </Button>
        <Button
          disabled={update.isPending}
          onClick={() => update.mutate({ user_id: id, active: !active })}
        >
          {t(active ? 'people.deactivate' : 'people.activate')}
        </Button>
      </div>
      <p className="card-note">{t('people.deactivate.hint')}</p>
      <div className="card-actions">
        <Button disabled={reset.isPending} onClick={() => reset.mutate({ user_id: id })}>
          {t('people.reset')}
        </Button>
        <Button kind="danger" onClick={() => setErasing(true)}>
          {t('people.erase')}
        </Button>
      </div>
      <ErrorNote error={update.error ?? reset.error} />
      {reset.data === undefined ? null : (
        <>
          <p role="status">{t('people.reset.text')}</p>
          <Secret text={new URL(reset.data.link, location.origin).href} />
        </>
      )}
    </Dialog>
  );
}

function ErasePerson({ account, onClose }: ManagePersonProps) {
  const { t } = useLanguage();
  const erase = useCall('users.erase', { changes: CHANGES });
  const isMemoryLeft = erase.data?.memory === 'failed';
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('people.erase.title', { email: account.email })}
      text={t(isMemoryLeft ? 'people.erase.memory_failed' : 'people.erase.text')}
      action={t('people.erase.submit')}
      isPending={erase.isPending}
      error={erase.error}
      onConfirm={() =>
        erase.mutate(
          { user_id: account.id },
          { onSuccess: ({ memory }) => (memory === 'failed' ? undefined : onClose()) },
        )
      }
    />
  );
}
