import { useLanguage } from '../preferences/language.tsx';
import { Button } from './button.tsx';

interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
  readonly onChange: (offset: number) => void;
}

/** Steps through the pages of a long table. */
export function Pager({ offset, limit, total, onChange }: PagerProps) {
  const { t } = useLanguage();
  if (total <= limit && offset === 0) return null;
  const to = Math.min(offset + limit, total);
  return (
    <nav className="pager" aria-label={t('table.page', { from: offset + 1, to, total })}>
      <Button disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - limit))}>
        {t('action.previous')}
      </Button>
      <span>{t('table.page', { from: offset + 1, to, total })}</span>
      <Button disabled={to >= total} onClick={() => onChange(offset + limit)}>
        {t('action.next')}
      </Button>
    </nav>
  );
}
