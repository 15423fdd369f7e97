import { Outlet, useMatches } from '@tanstack/react-router';
import { Menu } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';
import { IconButton } from '../ui/button.tsx';
import { PageControls } from '../ui/page.tsx';
import { Account } from './account.tsx';
import { Banners } from './banners.tsx';
import { AdminOnly } from './error-page.tsx';
import { Brand, Navigation } from './navigation-list.tsx';
import { RangeControls } from './range-controls.tsx';
import { SearchButton } from './search-button.tsx';

const NavigationDrawer = lazy(async () => ({
  default: (await import('./navigation-drawer.tsx')).NavigationDrawer,
}));
const SearchDialog = lazy(async () => ({
  default: (await import('./search-dialog.tsx')).SearchDialog,
}));

/** What is around every page of a signed-in person. */
export function Shell() {
  const { t } = useLanguage();
  const { is_admin: isAdmin } = useUser();
  const [open, setOpen] = useState<'navigation' | 'search'>();
  const close = (): void => setOpen(undefined);
  const matches = useMatches();
  const isForAdmins = matches.some(({ staticData }) => staticData.isForAdmins === true);
  const usesRange = matches.some(({ staticData }) => staticData.usesRange === true);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen('search');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t('frame.skip')}
      </a>
      <aside className="side">
        <Brand />
        <SearchButton onOpen={() => setOpen('search')} />
        <Navigation />
        <Account />
      </aside>
      <div className="main">
        <div className="bar">
          <IconButton label={t('frame.menu')} onClick={() => setOpen('navigation')}>
            <Menu aria-hidden size={18} />
          </IconButton>
          <Brand />
          <span className="bar-space" />
          <SearchButton isSmall onOpen={() => setOpen('search')} />
        </div>
        <Banners />
        <main id="content" tabIndex={-1}>
          <PageControls value={usesRange ? <RangeControls /> : null}>
            {isAdmin || !isForAdmins ? <Outlet /> : <AdminOnly />}
          </PageControls>
        </main>
      </div>
      <Suspense>
        {open === 'navigation' ? <NavigationDrawer onClose={close} /> : null}
        {open === 'search' ? <SearchDialog onClose={close} /> : null}
      </Suspense>
    </div>
  );
}
