import { useLanguage } from '../../preferences/language.tsx';

interface ProviderLinkProps {
  /** The host of the provider; null where there is none. */
  readonly provider: string | null | undefined;
  /** The page of the console to go to afterwards. */
  readonly returnTo: string;
}

/** Leads to the identity provider through which people can also sign in. */
export function ProviderLink({ provider, returnTo }: ProviderLinkProps) {
  const { t } = useLanguage();
  if ((provider ?? null) === null) return null;
  return (
    <a
      className="button"
      href={`/auth/oidc/start?return_to=${encodeURIComponent(`/console${returnTo}`)}`}
    >
      {t('sign_in.submit')} – {provider}
    </a>
  );
}
