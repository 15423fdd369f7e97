import { Menu } from '@base-ui/react/menu';
import { Link } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { useState } from 'react';
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

interface AccountMenuProps {
  readonly isOpen: boolean;
  readonly onChange: (isOpen: boolean) => void;
  /** The button that opens and closes it. */
  readonly anchor: HTMLElement;
}

/** Theme, language, the page of the account and the way out. */
export function AccountMenu({ isOpen, onChange, anchor }: AccountMenuProps) {
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
    <Menu.Root
      modal={false}
      open={isOpen}
      onOpenChange={(next, { event }) => {
        // A press on the button closes it by itself.
        if (next || !(event.target instanceof Node && anchor.contains(event.target)))
          onChange(next);
      }}
    >
      <Menu.Portal>
        <Menu.Positioner className="layer" anchor={anchor} sideOffset={4} align="end">
          <Menu.Popup className="popup" finalFocus={() => anchor}>
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
            <Menu.LinkItem className="item" closeOnClick render={<Link to="/account" />}>
              {t('account.open')}
            </Menu.LinkItem>
            <Menu.Item className="item" onClick={() => void session.signOut()}>
              {t('frame.sign_out')}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
