import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { HttpError } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { Outside } from '../../frame/outside.tsx';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { formText } from '../../ui/form-text.ts';
import { Page, Skeleton } from '../../ui/page.tsx';

const START_PATH = '/auth/oidc/start';

/** Asks once for the password of the local account that has the email of the person of the provider. */
export function LinkPage() {
  const { t } = useLanguage();
  const { session } = useApi();
  const pending = useQuery({ queryKey: ['/auth/oidc/link'], queryFn: () => session.pendingLink() });
  const isOver = pending.error instanceof HttpError && pending.error.status === 400;
  return (
    <Outside>
      <Page title={t('link.title')} intro={t('app.name')}>
        {pending.isPending ? <Skeleton /> : null}
        {isOver ? <p className="note">{t('link.over')}</p> : null}
        {isOver ? null : <ErrorNote error={pending.error} onRetry={() => void pending.refetch()} />}
        {pending.data === undefined ? null : (
          <LinkForm email={pending.data.email} provider={pending.data.provider ?? ''} />
        )}
        <div className="card-actions">
          <a className="button button-quiet" href={START_PATH}>
            {t('link.again')}
          </a>
          <Link to="/sign-in" className="button button-quiet">
            {t('link.without')}
          </Link>
        </div>
      </Page>
    </Outside>
  );
}

function LinkForm({ email, provider }: { readonly email: string; readonly provider: string }) {
  const { t } = useLanguage();
  const { session } = useApi();
  const linking = useMutation({
    mutationFn: (password: string) => session.linkAccount(password),
    onSuccess: (returnTo) => location.replace(returnTo),
  });
  const isWrong = linking.error instanceof HttpError && linking.error.status === 401;
  return (
    <>
      <p>{t('link.text', { email, provider })}</p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          linking.mutate(formText(new FormData(event.currentTarget), 'password'));
        }}
      >
        {/* For password managers: the password is that of this account. */}
        <input type="hidden" name="email" autoComplete="username" value={email} />
        <TextField
          label={t('link.password')}
          name="password"
          type="password"
          autoComplete="current-password"
          problem={isWrong ? t('link.wrong') : undefined}
          required
        />
        {isWrong ? null : <ErrorNote error={linking.error} />}
        <Button kind="primary" type="submit" disabled={linking.isPending || linking.isSuccess}>
          {t('link.submit')}
        </Button>
      </form>
      <p className="field-hint">{t('link.no_password')}</p>
    </>
  );
}
