import { Dialog } from '@base-ui/react/dialog';
import { Link, Outlet, useMatches } from '@tanstack/react-router';
import { Menu as MenuIcon, X } from 'lucide-react';
import { useState } from 'react';
import { useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';
import { IconButton } from '../ui/button.tsx';
import { Banners } from './banners.tsx';
import { AdminOnly } from './error-page.tsx';
import { NAVIGATION } from './navigation.ts';
import { TopBar } from './top-bar.tsx';

/** What is around every page of a signed-in person. */
export function Shell() {
  const { t } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const { is_admin: isAdmin } = useUser();
  const isForAdmins = useMatches().some(({ staticData }) => staticData.isForAdmins === true);
  const isAllowed = isAdmin || !isForAdmins;
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t('frame.skip')}
      </a>
      <aside className="side">
        <Brand />
        <Navigation />
      </aside>
      <div className="main">
        <div className="bar">
          <Dialog.Root open={isOpen} onOpenChange={setOpen}>
            <div className="bar-menu">
              <IconButton label={t('frame.menu')} onClick={() => setOpen(true)}>
                <MenuIcon aria-hidden size={18} />
              </IconButton>
            </div>
            <Dialog.Portal>
              <Dialog.Backdrop className="backdrop" />
              <Dialog.Popup className="drawer">
                <div className="dialog-head">
                  <Dialog.Title className="visually-hidden">{t('frame.navigation')}</Dialog.Title>
                  <Brand />
                  <IconButton label={t('action.close')} onClick={() => setOpen(false)}>
                    <X aria-hidden size={16} />
                  </IconButton>
                </div>
                <Navigation onChoose={() => setOpen(false)} />
              </Dialog.Popup>
            </Dialog.Portal>
          </Dialog.Root>
          <TopBar />
        </div>
        <Banners />
        <main id="content" tabIndex={-1}>
          {isAllowed ? <Outlet /> : <AdminOnly />}
        </main>
      </div>
    </div>
  );
}

function Brand() {
  const { t } = useLanguage();
  return <span className="brand">{t('app.name')}</span>;
}

function Navigation({ onChoose }: { readonly onChoose?: () => void }) {
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
