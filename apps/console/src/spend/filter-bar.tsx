import './filter-bar.css';
import { ListFilter, X } from 'lucide-react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from '../ui/button.tsx';
import { DIMENSION_OF } from './filter-dimensions.ts';
import { FILTERS, scopeOf, without, type FilterSearch } from './filter-search.ts';
import { ScopePicker } from './scope-picker.tsx';
import { useNames } from './use-names.ts';

const FilterDialog = lazy(async () => ({
  default: (await import('./filter-dialog.tsx')).FilterDialog,
}));

interface FilterBarProps {
  readonly search: FilterSearch;
  /** Whose requests an admin sees without choosing. */
  readonly fallback: 'self' | 'all';
  readonly onChange: (search: FilterSearch) => void;
  readonly children?: ReactNode;
}

/** Whose requests, and the filters as chips that can be removed. */
export function FilterBar({ search, fallback, onChange, children }: FilterBarProps) {
  const { t } = useLanguage();
  const { is_admin: isAdmin } = useUser();
  const [isOpen, setOpen] = useState(false);
  const nameOf = useNames();
  return (
    <div className="filters">
      <ScopePicker
        value={scopeOf(search, fallback, isAdmin)}
        onChange={(scope) => onChange({ ...search, scope })}
      />
      {children}
      <Button onClick={() => setOpen(true)}>
        <ListFilter aria-hidden size={14} /> {t('spend.filter')}
      </Button>
      {FILTERS.map((name) => {
        const value = search[name];
        if (value === undefined) return null;
        const label = `${t(`spend.filter.${name}`)}: ${nameOf(DIMENSION_OF[name], value)}`;
        return (
          <Button
            key={name}
            className="filter-chip"
            aria-label={t('spend.filter.remove', { filter: label })}
            onClick={() => onChange(without(search, name))}
          >
            {label} <X aria-hidden size={12} />
          </Button>
        );
      })}
      {isOpen ? (
        <Suspense>
          <FilterDialog
            search={search}
            fallback={fallback}
            onClose={() => setOpen(false)}
            onChange={onChange}
          />
        </Suspense>
      ) : null}
    </div>
  );
}
