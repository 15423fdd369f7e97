import { Link } from '@tanstack/react-router';
import { useUser } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Empty } from '../../ui/empty.tsx';

/** In place of a page that needs a model which no backend has. Admins can add one. */
export function NoModel({ text }: { readonly text: string }) {
  const { t } = useLanguage();
  const { is_admin: isAdmin } = useUser();
  return (
    <Empty
      text={text}
      {...(isAdmin
        ? {
            action: (
              <Link to="/backends" className="button button-primary">
                {t('backends.title')}
              </Link>
            ),
          }
        : {})}
    />
  );
}
