import { Outlet, useMatches } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { lazy, useState } from 'react';
import { useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';
import { IconButton } from '../ui/button.tsx';
import { OnceOpen } from '../ui/once-open.tsx';
import { Banners } from './banners.tsx';
import { AdminOnly } from './error-page.tsx';
import { Brand, Navigation } from './navigation-list.tsx';
import { TopBar } from './top-bar.tsx';

const NavigationDrawer = lazy(async () => ({
  default: (await import('./navigation-drawer.tsx')).NavigationDrawer,
}));

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
          <div className="bar-menu">
            <IconButton label={t('frame.menu')} onClick={() => setOpen(true)}>
              <MenuIcon aria-hidden size={18} />
            </IconButton>
          </div>
          <OnceOpen isOpen={isOpen}>
            <NavigationDrawer isOpen={isOpen} onChange={setOpen} />
          </OnceOpen>
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
