import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { Outside } from '../../frame/outside.tsx';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { CredentialsForm } from './credentials-form.tsx';
import { ProviderLink } from './provider-link.tsx';

const route = getRouteApi('/sign-in');

/** Signing in, or creating an account where that is open. The route leads on when the session begins. */
export function SignInPage() {
  const { t } = useLanguage();
  const { session } = useApi();
  const { expired, return_to: returnTo = '/' } = route.useSearch();
  const [isNew, setNew] = useState(false);
  const options = useQuery({ queryKey: ['/api/session'], queryFn: () => session.options() });
  return (
    <Outside>
      <Page title={t(isNew ? 'sign_in.register.title' : 'sign_in.title')} intro={t('app.name')}>
        {expired === true && !isNew ? <p className="note">{t('sign_in.expired')}</p> : null}
        <ProviderLink provider={options.data?.provider} returnTo={returnTo} />
        <CredentialsForm key={String(isNew)} isNew={isNew} />
        {options.data?.registration_open === false ? (
          <p className="page-intro">{t('sign_in.register.closed')}</p>
        ) : (
          <Button kind="quiet" onClick={() => setNew(!isNew)}>
            {t(isNew ? 'sign_in.have_account' : 'sign_in.register')}
          </Button>
        )}
      </Page>
    </Outside>
  );
}
