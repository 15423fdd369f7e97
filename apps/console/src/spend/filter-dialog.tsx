import { useMemo } from 'react';
import { useApi, useUser } from '../api/use-api.ts';
import { useQuery } from '../api/use-query.ts';
import { useTimeRange } from '../frame/use-time-range.ts';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Select } from '../ui/select.tsx';
import { DIMENSION_OF } from './filter-dimensions.ts';
import {
  filterParams,
  FILTERS,
  scopeOf,
  without,
  type FilterName,
  type FilterSearch,
} from './filter-search.ts';
import { shownPeriod } from './spend-series.ts';
import { askSummary } from './summary.ts';
import { useNames } from './use-names.ts';

interface FilterDialogProps {
  readonly search: FilterSearch;
  /** Whose requests an admin sees without choosing. */
  readonly fallback: 'self' | 'all';
  readonly onChange: (search: FilterSearch) => void;
  readonly onClose: () => void;
}

/** Only what occurs in the hours or days of the range can be chosen. */
export function FilterDialog({ search, fallback, onChange, onClose }: FilterDialogProps) {
  const { t } = useLanguage();
  const { is_admin: isAdmin } = useUser();
  const isSelf = scopeOf(search, fallback, isAdmin) === 'self';
  return (
    <Dialog isOpen onClose={onClose} title={t('spend.filter')}>
      <div className="form">
        {FILTERS.filter((name) => name !== 'user_id' || !isSelf).map((name) => (
          <FilterField
            key={name}
            name={name}
            search={search}
            fallback={fallback}
            onChange={onChange}
          />
        ))}
      </div>
      <div className="dialog-actions">
        <Button kind="primary" onClick={onClose}>
          {t('action.close')}
        </Button>
      </div>
    </Dialog>
  );
}

interface FilterFieldProps extends Omit<FilterDialogProps, 'onClose'> {
  readonly name: FilterName;
}

const ALL = '';

function FilterField({ name, search, fallback, onChange }: FilterFieldProps) {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const range = useTimeRange();
  const nameOf = useNames();
  const dimension = DIMENSION_OF[name];
  const { scope, group_id: groupId } = filterParams(search, fallback, isAdmin);
  const found = useQuery({
    queryKey: ['usage.summary', 'choices', range.search, scope, groupId, dimension],
    queryFn: ({ signal }) =>
      askSummary(
        api,
        {
          ...(scope === undefined ? {} : { scope }),
          ...(groupId === undefined ? {} : { group_id: groupId }),
          ...shownPeriod(range.search, Date.now()),
          group_by: dimension,
        },
        { signal },
      ),
  });
  const value = search[name] ?? ALL;
  const choices = useMemo(() => {
    const keys = new Map(
      (found.data?.groups ?? []).flatMap((group) =>
        group.key === null ? [] : [[group.key, group.name]],
      ),
    );
    if (value !== ALL && !keys.has(value)) keys.set(value, undefined);
    return [
      { value: ALL, label: t('spend.filter.any') },
      ...[...keys].map(([key, given]) => ({ value: key, label: nameOf(dimension, key, given) })),
    ];
  }, [found.data, value, nameOf, dimension, t]);
  return (
    <>
      <Select
        label={t(`spend.filter.${name}`)}
        value={value}
        choices={choices}
        onChange={(next) =>
          onChange(next === ALL ? without(search, name) : { ...search, [name]: next })
        }
      />
      <ErrorNote error={found.error} onRetry={() => void found.refetch()} />
    </>
  );
}
