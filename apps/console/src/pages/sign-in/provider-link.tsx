import { useLanguage } from '../../preferences/language.tsx';

interface ProviderLinkProps {
  /** The host of the provider; null where there is none. */
  readonly provider: string | null | undefined;
  /** The page of the console to go to afterwards. */
  readonly returnTo: string;
  /** Called when the person goes there. */
  readonly onLeave?: () => void;
}

/** Leads to the identity provider through which people can also sign in. */
export function ProviderLink({ provider, returnTo, onLeave }: ProviderLinkProps) {
  const { t } = useLanguage();
  if ((provider ?? null) === null) return null;
  return (
    <a
      className="button"
      onClick={onLeave}
      href={`/auth/oidc/start?return_to=${encodeURIComponent(`/console${returnTo}`)}`}
    >
      {t('sign_in.submit')} – {provider}
    </a>
  );
}
