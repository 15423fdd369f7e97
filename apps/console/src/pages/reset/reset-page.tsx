import { Link, useLocation, getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useCall } from '../../api/use-api.ts';
import { Outside } from '../../frame/outside.tsx';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { formText } from '../../ui/form-text.ts';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';

const route = getRouteApi('/reset');

/** Sets a new password with the token of a link. */
export function ResetPage() {
  const { t } = useLanguage();
  const { hash } = useLocation();
  const navigate = route.useNavigate();
  const [token] = useState(hash);
  const reset = useCall('auth.password.reset');
  // The token leaves the address, so that it cannot be read there or in the history.
  useEffect(() => {
    if (hash !== '') void navigate({ hash: '', replace: true });
  }, [hash, navigate]);
  return (
    <Outside>
      <Page title={t('reset.title')}>
        {token === '' ? <Empty text={t('reset.broken')} /> : null}
        {reset.isSuccess ? (
          <>
            <p role="status">{t('reset.done')}</p>
            <Link to="/sign-in" className="button button-primary">
              {t('sign_in.submit')}
            </Link>
          </>
        ) : null}
        {token === '' || reset.isSuccess ? null : (
          <form
            className="form"
            onSubmit={(event) => {
              event.preventDefault();
              const form = new FormData(event.currentTarget);
              reset.mutate({ token, password: formText(form, 'password') });
            }}
          >
            <TextField
              label={t('reset.password')}
              name="password"
              type="password"
              autoComplete="new-password"
              hint={t('sign_in.password.hint')}
              problem={problemOf(reset.error).fields['password']}
              minLength={8}
              required
            />
            <ErrorNote error={reset.error} />
            <Button kind="primary" type="submit" disabled={reset.isPending}>
              {t('reset.submit')}
            </Button>
          </form>
        )}
      </Page>
    </Outside>
  );
}
