import { Link } from '@tanstack/react-router';
import { useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';
import { NAVIGATION } from './navigation.ts';

export function Brand() {
  const { t } = useLanguage();
  return <span className="brand">{t('app.name')}</span>;
}

/** The links to all pages that the viewer may see. */
export function Navigation({ onChoose }: { readonly onChoose?: () => void }) {
  const { t } = useLanguage();
  const { is_admin: isAdmin } = useUser();
  return (
    <nav aria-label={t('frame.navigation')} className="navigation">
      {NAVIGATION.map(({ text, items }) => {
        const shown = items.filter(({ isForAdmins = false }) => isAdmin || !isForAdmins);
        if (shown.length === 0) return null;
        return (
          <div key={text} className="navigation-group">
            <h2 className="navigation-title">{t(text)}</h2>
            <ul>
              {shown.map(({ to, text: name, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    className="navigation-item"
                    activeProps={{ 'aria-current': 'page' }}
                    onClick={() => onChoose?.()}
                  >
                    <Icon aria-hidden size={16} /> {t(name)}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}
