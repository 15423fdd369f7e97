import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useCall, useSessionState } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { Outside } from '../../frame/outside.tsx';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { CredentialsForm } from '../sign-in/credentials-form.tsx';

/** Joining a group with the link of an invitation. */
export function InvitePage() {
  const { t } = useLanguage();
  const { hash: token } = useLocation();
  const state = useSessionState();
  return (
    <Outside>
      <Page title={t('invite.title')}>
        {token === '' ? <Empty text={t('invite.broken')} /> : null}
        {token !== '' && state.status === 'signed-in' ? (
          <Accept token={token} email={state.user.email} />
        ) : null}
        {token !== '' && state.status !== 'signed-in' ? <SignIn /> : null}
      </Page>
    </Outside>
  );
}

function Accept({ token, email }: { readonly token: string; readonly email: string }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const accept = useCall('group.invite.accept', { changes: ['group.list'] });
  return (
    <>
      <p>{t('invite.as', { email })}</p>
      <ErrorNote error={accept.error} />
      <Button
        kind="primary"
        disabled={accept.isPending}
        onClick={() =>
          accept.mutate(
            { token },
            {
              onSuccess: (group) =>
                void navigate({ to: '/groups', search: { group: group.id }, replace: true }),
            },
          )
        }
      >
        {t('invite.accept')}
      </Button>
    </>
  );
}

function SignIn() {
  const { t } = useLanguage();
  const { session } = useApi();
  const [isNew, setNew] = useState(false);
  const options = useQuery({ queryKey: ['/api/session'], queryFn: () => session.options() });
  return (
    <>
      <p>{t('invite.sign_in')}</p>
      <CredentialsForm key={String(isNew)} isNew={isNew} />
      {options.data?.registration_open === false ? null : (
        <Button kind="quiet" onClick={() => setNew(!isNew)}>
          {t(isNew ? 'sign_in.have_account' : 'sign_in.register')}
        </Button>
      )}
    </>
  );
}
