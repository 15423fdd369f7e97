import { useLanguage } from '../preferences/language.tsx';
import { Button } from './button.tsx';

/** More rows than these are on further pages, so that thousands do not slow the page down. */
export const PAGE_ROWS = 50;

interface TablePagesProps {
  readonly label: string;
  /** 0 is the first. */
  readonly page: number;
  /** How many rows there are on all pages. */
  readonly count: number;
  readonly onChange: (page: number) => void;
}

/** Which rows of a table are shown, and the way to the others. */
export function TablePages({ label, page, count, onChange }: TablePagesProps) {
  const { t } = useLanguage();
  const to = Math.min(count, (page + 1) * PAGE_ROWS);
  return (
    <nav className="pager" aria-label={t('table.pages', { table: label })}>
      <span role="status">{t('table.page', { from: page * PAGE_ROWS + 1, to, total: count })}</span>
      <Button disabled={page === 0} onClick={() => onChange(page - 1)}>
        {t('table.previous')}
      </Button>
      <Button disabled={to === count} onClick={() => onChange(page + 1)}>
        {t('table.next')}
      </Button>
    </nav>
  );
}
