import { useMatches, useNavigate, useSearch } from '@tanstack/react-router';
import { Pause, Play, Search, UserRound } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { OnceOpen } from '../ui/once-open.tsx';
import { RangePicker } from './range-picker.tsx';
import type { FrameSearch } from './time-range.ts';

const AccountMenu = lazy(async () => ({
  default: (await import('./account-menu.tsx')).AccountMenu,
}));
const SearchDialog = lazy(async () => ({
  default: (await import('./search-dialog.tsx')).SearchDialog,
}));

/** Time range, live data, search, and the account with theme and language. */
export function TopBar() {
  const usesRange = useMatches().some(({ staticData }) => staticData.usesRange === true);
  return (
    <div className="bar-content">
      {usesRange ? <RangePicker /> : null}
      {usesRange ? <LiveSwitch /> : null}
      <span className="bar-space" />
      <SearchButton />
      <AccountButton />
    </div>
  );
}

function LiveSwitch() {
  const { t } = useLanguage();
  const { paused = false } = useSearch({ strict: false });
  const navigate = useNavigate();
  const Icon = paused ? Play : Pause;
  return (
    <Button
      aria-pressed={!paused}
      title={t(paused ? 'frame.paused.hint' : 'frame.live.hint')}
      onClick={() =>
        void navigate({
          to: '.',
          search: ({ paused: _paused, ...rest }: FrameSearch) =>
            paused ? rest : { ...rest, paused: true },
        } as never)
      }
    >
      <Icon aria-hidden size={14} />{' '}
      <span className="wide-only">{t(paused ? 'frame.paused' : 'frame.live')}</span>
      <span className="visually-hidden narrow-only">
        {t(paused ? 'frame.paused' : 'frame.live')}
      </span>
    </Button>
  );
}

function SearchButton() {
  const { t } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)} aria-keyshortcuts="Control+K">
        <Search aria-hidden size={14} /> <span className="wide-only">{t('frame.search')}</span>
        <kbd className="wide-only">Ctrl K</kbd>
        <span className="visually-hidden narrow-only">{t('frame.search')}</span>
      </Button>
      {isOpen ? (
        <Suspense>
          <SearchDialog onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

function AccountButton() {
  const { t } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  return (
    <>
      <IconButton
        ref={setAnchor}
        label={t('frame.account')}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <UserRound aria-hidden size={18} />
      </IconButton>
      <OnceOpen isOpen={isOpen}>
        {anchor === null ? null : (
          <AccountMenu isOpen={isOpen} onChange={setOpen} anchor={anchor} />
        )}
      </OnceOpen>
    </>
  );
}
