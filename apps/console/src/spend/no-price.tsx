import { Link } from '@tanstack/react-router';
import { useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';

/** In place of a price or cost that is missing: admins can set the price. */
export function NoPrice({ model }: { readonly model?: string | undefined }) {
  const { t } = useLanguage();
  const { is_admin: isAdmin } = useUser();
  if (!isAdmin) return t('prices.none');
  return (
    <>
      {t('prices.none')}{' '}
      <Link to="/prices" search={model === undefined ? {} : { model }}>
        {t('prices.set')}
      </Link>
    </>
  );
}
