import { createContext, useContext, useEffect, type ReactNode } from 'react';
import { useLanguage } from '../preferences/language.tsx';

/** What the frame puts beside the title of a page, such as the time range. */
export const PageControls = createContext<ReactNode>(null);

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
  const controls = useContext(PageControls);
  usePageTitle(title);
  return (
    <section className="page">
      <div className={isBusy ? 'progress-line progress-line-on' : 'progress-line'} aria-hidden />
      <header className="page-head">
        <div className="page-title">
          <h1>{title}</h1>
          {intro === undefined ? null : <p className="page-intro">{intro}</p>}
        </div>
        {controls === null && actions === undefined ? null : (
          <div className="page-actions">
            {controls}
            {actions}
          </div>
        )}
      </header>
      {children}
    </section>
  );
}

/** Names the page in the window and the history of the browser. */
export function usePageTitle(title: string): void {
  const { t } = useLanguage();
  useEffect(() => {
    document.title = `${title} – ${t('app.name')}`;
  }, [title, t]);
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
