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
  const [asked, setAsked] = useState<'erase' | 'claim'>();
  const { id, email, is_admin: isAdmin, active, tier } = account;
  const names = [...new Set([tier, ...tiers.map(({ name }) => name)])];
  if (asked === 'erase') return <ErasePerson account={account} onClose={onClose} />;
  if (asked === 'claim')
    return <AllowClaim account={account} onClose={() => setAsked(undefined)} />;
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
        <Button kind="danger" onClick={() => setAsked('erase')}>
          {t('people.erase')}
        </Button>
      </div>
      <ProviderClaim
        account={account}
        isPending={update.isPending}
        onAllow={() => setAsked('claim')}
        onWithdraw={() => update.mutate({ user_id: id, provider_claim: false })}
      />
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

interface ProviderClaimProps {
  readonly account: ManagePersonProps['account'];
  readonly isPending: boolean;
  readonly onAllow: () => void;
  readonly onWithdraw: () => void;
}

/** To whom of the identity provider the account belongs, and who may take it over; nothing without a provider. */
function ProviderClaim({ account, isPending, onAllow, onWithdraw }: ProviderClaimProps) {
  const { t } = useLanguage();
  const { session } = useApi();
  const options = useQuery({ queryKey: ['/api/session'], queryFn: () => session.options() });
  const { provider_bound: isBound, provider_claim: isClaimable } = account;
  if ((options.data?.provider ?? null) === null) return null;
  return (
    <>
      {isBound ? <p className="card-note">{t('people.claim.bound')}</p> : null}
      {isClaimable ? <p className="card-note">{t('people.claim.open')}</p> : null}
      <div className="card-actions">
        <Button disabled={isPending} onClick={isClaimable ? onWithdraw : onAllow}>
          {t(isClaimable ? 'people.claim.withdraw' : 'people.claim')}
        </Button>
      </div>
    </>
  );
}

function AllowClaim({ account, onClose }: ManagePersonProps) {
  const { t } = useLanguage();
  const update = useCall('users.update', { changes: CHANGES });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('people.claim.title', { email: account.email })}
      text={t('people.claim.text')}
      action={t('people.claim.submit')}
      isPending={update.isPending}
      error={update.error}
      onConfirm={() =>
        update.mutate({ user_id: account.id, provider_claim: true }, { onSuccess: onClose })
      }
    />
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
