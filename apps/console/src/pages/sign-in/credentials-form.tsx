import { useMutation } from '@tanstack/react-query';
import { HttpError } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { formText } from '../../ui/form-text.ts';

/** Signs in, or creates an account. The page shows what follows when the session begins. */
export function CredentialsForm({ isNew }: { readonly isNew: boolean }) {
  const { t } = useLanguage();
  const { session } = useApi();
  const sending = useMutation({
    mutationFn: (form: FormData) => {
      const text = (name: string): string => formText(form, name);
      const credentials = { email: text('email'), password: text('password') };
      if (!isNew) return session.signIn(credentials);
      const name = text('name');
      return session.register({ ...credentials, ...(name === '' ? {} : { name }) });
    },
  });
  const isWrong = sending.error instanceof HttpError && sending.error.status === 401;
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate(new FormData(event.currentTarget));
      }}
    >
      {isNew ? (
        <TextField label={t('sign_in.register.name')} name="name" autoComplete="name" />
      ) : null}
      <TextField
        label={t('sign_in.email')}
        name="email"
        type="email"
        autoComplete="username"
        required
      />
      <TextField
        label={t('sign_in.password')}
        name="password"
        type="password"
        autoComplete={isNew ? 'new-password' : 'current-password'}
        hint={isNew ? t('sign_in.password.hint') : undefined}
        problem={isWrong ? t('sign_in.failed') : undefined}
        {...(isNew ? { minLength: 8 } : {})}
        required
      />
      {isWrong ? null : <ErrorNote error={sending.error} />}
      <Button kind="primary" type="submit" disabled={sending.isPending}>
        {t(isNew ? 'sign_in.register.submit' : 'sign_in.submit')}
      </Button>
    </form>
  );
}
