import { useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApi, useCall, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { formText } from '../../ui/form-text.ts';

/** Replaces the password of the viewer, who has to know the one they have. */
export function ChangePassword() {
  const { t } = useLanguage();
  const { session } = useApi();
  const { email } = useUser();
  const [differs, setDiffers] = useState(false);
  const change = useCall('auth.password.change');
  const options = useQuery({ queryKey: ['/api/session'], queryFn: () => session.options() });
  const provider = options.data?.provider ?? null;
  const problem = problemOf(change.error);
  const isWrong = problem.fields['current'] !== undefined;

  function submit(form: HTMLFormElement): void {
    const values = new FormData(form);
    const next = formText(values, 'next');
    const isTypo = next !== formText(values, 'again');
    setDiffers(isTypo);
    change.reset();
    if (isTypo) return;
    const current = formText(values, 'current');
    change.mutate({ current, next }, { onSuccess: () => form.reset() });
  }

  return (
    <form
      className="form account-password"
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
    >
      <p>{t('account.password.ends')}</p>
      {provider === null ? null : <p>{t('account.password.provider', { provider })}</p>}
      {/* For password managers, which store a password with its account. */}
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <TextField
        label={t('account.password.current')}
        name="current"
        type="password"
        autoComplete="current-password"
        problem={isWrong ? t('account.password.wrong') : undefined}
        required
      />
      <TextField
        label={t('account.password.next')}
        name="next"
        type="password"
        autoComplete="new-password"
        hint={t('sign_in.password.hint')}
        problem={problem.fields['next']}
        minLength={8}
        required
      />
      <TextField
        label={t('account.password.again')}
        name="again"
        type="password"
        autoComplete="new-password"
        problem={differs ? t('account.password.differs') : undefined}
        required
      />
      {isWrong ? null : <ErrorNote error={change.error} />}
      {change.isSuccess ? (
        <p className="note note-good" role="status">
          {t('account.password.done')}
        </p>
      ) : null}
      <div className="card-actions">
        <Button kind="primary" type="submit" disabled={change.isPending}>
          {t('account.password')}
        </Button>
      </div>
    </form>
  );
}
