import { useEffect } from 'react';
import { useCall, useUser } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton } from '../../ui/page.tsx';

const TIER = 'enterprise';

/** Puts the admin, whose account was just created, on the largest tier. `onDone` must stay the same function. */
export function AdminTier({ onDone }: { readonly onDone: () => void }) {
  const { t } = useLanguage();
  const { id } = useUser();
  const { mutate, error } = useCall('users.update', { changes: ['billing.plan', 'users.list'] });
  useEffect(() => mutate({ user_id: id, tier: TIER }, { onSuccess: onDone }), [mutate, id, onDone]);
  if (error === null) return <Skeleton lines={2} />;
  return (
    <div className="form">
      <ErrorNote
        error={error}
        onRetry={() => mutate({ user_id: id, tier: TIER }, { onSuccess: onDone })}
      />
      <div>
        <Button kind="quiet" onClick={onDone}>
          {t('action.skip')}
        </Button>
      </div>
    </div>
  );
}
