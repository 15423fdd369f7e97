import { Menu } from '@base-ui/react/menu';
import { Link } from '@tanstack/react-router';
import { Check, ChevronsUpDown, LogOut, UserRound } from 'lucide-react';
import { useState, type ReactNode } from 'react';
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

/** Theme, language, the page of the account and the way out. */
export function AccountMenu({ children }: { readonly children: ReactNode }) {
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
      <Menu.Trigger className="account-button">
        <span className="visually-hidden">{t('frame.account')}</span>
        {children}
        <ChevronsUpDown aria-hidden size={14} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="layer" sideOffset={4} align="start">
          <Menu.Popup className="popup">
            <div className="popup-title">{email}</div>
            <Menu.LinkItem className="item" closeOnClick render={<Link to="/account" />}>
              <UserRound aria-hidden size={14} /> {t('account.open')}
            </Menu.LinkItem>
            <Menu.Separator className="separator" />
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
              <LogOut aria-hidden size={14} /> {t('frame.sign_out')}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
