import { Menu } from '@base-ui/react/menu';
import { useMatches, useNavigate, useSearch } from '@tanstack/react-router';
import { Check, Pause, Play, Search, UserRound } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useApi, useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';
import {
  applyTheme,
  storedTheme,
  storeTheme,
  THEMES,
  type Theme,
} from '../preferences/preferences.ts';
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../texts/texts.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { RangePicker } from './range-picker.tsx';
import type { FrameSearch } from './time-range.ts';

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
      <AccountMenu />
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

function AccountMenu() {
  const { t, language, choose } = useLanguage();
  const { session } = useApi();
  const { email } = useUser();
  const [theme, setTheme] = useState(storedTheme);
  const changeTheme = (next: Theme): void => {
    storeTheme(next);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        render={
          <IconButton label={t('frame.account')}>
            <UserRound aria-hidden size={18} />
          </IconButton>
        }
      />
      <Menu.Portal>
        <Menu.Positioner className="layer" sideOffset={4} align="end">
          <Menu.Popup className="popup">
            <div className="popup-title">{email}</div>
            <Menu.RadioGroup value={theme} onValueChange={(next: Theme) => changeTheme(next)}>
              <div className="popup-title">{t('frame.theme')}</div>
              {THEMES.map((one) => (
                <Menu.RadioItem key={one} value={one} className="item" closeOnClick>
                  <span className="item-body">{t(`frame.theme.${one}`)}</span>
                  <Menu.RadioItemIndicator className="item-mark">
                    <Check aria-hidden size={14} />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.RadioGroup value={language} onValueChange={(next: Language) => void choose(next)}>
              <div className="popup-title">{t('frame.language')}</div>
              {LANGUAGES.map((one) => (
                <Menu.RadioItem key={one} value={one} className="item" closeOnClick lang={one}>
                  <span className="item-body">{LANGUAGE_NAMES[one]}</span>
                  <Menu.RadioItemIndicator className="item-mark">
                    <Check aria-hidden size={14} />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="separator" />
            <Menu.Item className="item" onClick={() => void session.signOut()}>
              {t('frame.sign_out')}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
