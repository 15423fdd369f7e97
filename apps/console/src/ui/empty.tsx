import { Inbox, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLanguage } from '../preferences/language.tsx';

interface EmptyProps {
  /** One sentence. */
  readonly text: string;
  readonly icon?: LucideIcon;
  /** One button or link to the next step. */
  readonly action?: ReactNode;
}

/** A page or table without content teaches the next step, with a link to the guide. */
export function Empty({ text, icon: Icon = Inbox, action }: EmptyProps) {
  const { t } = useLanguage();
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon aria-hidden size={20} />
      </span>
      <p>{text}</p>
      {action}
      {action === undefined ? null : (
        <a className="empty-guide" href="/docs" target="_blank" rel="noreferrer">
          {t('state.guide')}
        </a>
      )}
    </div>
  );
}
