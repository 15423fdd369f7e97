import { useMutation } from '@tanstack/react-query';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { formText } from '../../ui/form-text.ts';
import { ProviderLink } from '../sign-in/provider-link.tsx';

interface AccountStepProps {
  /** The person signs up here, or leaves for the provider and comes back. */
  readonly onBegin: () => void;
  readonly onFailed: () => void;
  readonly onDone: () => void;
}

/** Creates the first account, which becomes the admin. */
export function AccountStep({ onBegin, onFailed, onDone }: AccountStepProps) {
  const { t } = useLanguage();
  const { session } = useApi();
  const options = useQuery({ queryKey: ['/api/session'], queryFn: () => session.options() });
  const needsToken = options.data?.first_admin === 'token';
  const creating = useMutation({
    mutationFn: (form: FormData) => {
      const text = (name: string): string => formText(form, name);
      const adminToken = text('admin_token');
      return session.register({
        email: text('email'),
        password: text('password'),
        ...(adminToken === '' ? {} : { adminToken }),
      });
    },
    onError: onFailed,
    // An admin goes on with the tier of the account.
    onSuccess: () => {
      const state = session.getState();
      if (state.status === 'signed-in' && !state.user.is_admin) onDone();
    },
  });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onBegin();
        creating.mutate(new FormData(event.currentTarget));
      }}
    >
      <p>{t('welcome.account.text')}</p>
      <ProviderLink provider={options.data?.provider} returnTo="/welcome" onLeave={onBegin} />
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
        autoComplete="new-password"
        hint={t('sign_in.password.hint')}
        minLength={8}
        required
      />
      {needsToken ? (
        <TextField
          label={t('welcome.admin_token')}
          name="admin_token"
          type="password"
          autoComplete="off"
          hint={t('welcome.admin_token.hint')}
        />
      ) : null}
      <ErrorNote error={creating.error} />
      <div>
        <Button kind="primary" type="submit" disabled={creating.isPending}>
          {t('sign_in.register.submit')}
        </Button>
      </div>
    </form>
  );
}
