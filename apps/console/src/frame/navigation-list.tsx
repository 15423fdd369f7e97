import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';
import { Logo } from '../ui/logo.tsx';
import { NAVIGATION, type NavigationItem } from './navigation.ts';

export function Brand() {
  const { t } = useLanguage();
  return (
    <span className="brand">
      <Logo /> {t('app.name')}
    </span>
  );
}

interface NavigationProps {
  /** Called when a page was chosen. */
  readonly onChoose?: () => void;
}

/** The links to all pages that the viewer may see. */
export function Navigation({ onChoose }: NavigationProps) {
  const { t } = useLanguage();
  const { is_admin: isAdmin } = useUser();
  const groups = NAVIGATION.map(({ text, items }) => ({
    text,
    items: items.filter(({ isForAdmins = false }) => isAdmin || !isForAdmins),
  }));
  return (
    <nav aria-label={t('frame.navigation')} className="navigation">
      {groups.map(({ text, items }) =>
        items.length === 0 ? null : (
          <Group
            key={text ?? ''}
            items={items}
            {...(text === undefined ? {} : { title: t(text) })}
            {...(onChoose === undefined ? {} : { onChoose })}
          />
        ),
      )}
    </nav>
  );
}

interface GroupProps extends NavigationProps {
  readonly title?: string;
  readonly items: readonly NavigationItem[];
}

function Group({ title, items, onChoose }: GroupProps) {
  const { t } = useLanguage();
  const id = useId();
  return (
    <div>
      {title === undefined ? null : (
        <h2 id={id} className="navigation-title">
          {title}
        </h2>
      )}
      <ul {...(title === undefined ? {} : { 'aria-labelledby': id })}>
        {items.map(({ to, text, icon: Icon }) => (
          <li key={to}>
            <Link
              to={to}
              className="navigation-item"
              activeProps={{ 'aria-current': 'page' }}
              onClick={() => onChoose?.()}
            >
              <Icon aria-hidden size={16} /> {t(text)}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
