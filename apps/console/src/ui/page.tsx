import type { ReactNode } from 'react';
import { useEffect } from 'react';
import { useLanguage } from '../preferences/language.tsx';

interface PageProps {
  readonly title: string;
  /** One sentence below the title. */
  readonly intro?: string;
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode;
  /** Whether new data is being loaded while the old is still shown. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

/** The content of every page: title, actions, and a thin line while it loads. */
export function Page({ title, intro, actions, isBusy = false, children }: PageProps) {
  const { t } = useLanguage();
  useEffect(() => {
    document.title = `${title} – ${t('app.name')}`;
  }, [title, t]);
  return (
    <section className="page">
      <div className={isBusy ? 'progress-line progress-line-on' : 'progress-line'} aria-hidden />
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {intro === undefined ? null : <p className="page-intro">{intro}</p>}
        </div>
        {actions === undefined ? null : <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

interface EmptyProps {
  /** One sentence. */
  readonly text: string;
  /** One button or link to the next step. */
  readonly action?: ReactNode;
}

/** A page or table without content teaches the next step, with a link to the guide. */
export function Empty({ text, action }: EmptyProps) {
  const { t } = useLanguage();
  return (
    <div className="empty">
      <p>{text}</p>
      {action}
      {action === undefined ? null : (
        <a href="/docs" target="_blank" rel="noreferrer">
          {t('state.guide')}
        </a>
      )}
    </div>
  );
}

/** Only on the first load; afterwards the old content stays. */
export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
  const { t } = useLanguage();
  return (
    <div className="skeleton" role="status" aria-label={t('state.loading')}>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className="skeleton-line" />
      ))}
    </div>
  );
}

interface BadgeProps {
  /** Always together with a word. */
  readonly state: 'good' | 'warning' | 'bad' | 'neutral';
  readonly children: ReactNode;
}

/** The state of a thing. */
export function Badge({ state, children }: BadgeProps) {
  return (
    <span className={`badge badge-${state}`}>
      <span className="badge-dot" aria-hidden />
      {children}
    </span>
  );
}
