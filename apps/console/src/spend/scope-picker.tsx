import { useMemo } from 'react';
import { useApi, useUser } from '../api/use-api.ts';
import { useQuery } from '../api/use-query.ts';
import { useLanguage } from '../preferences/language.tsx';
import { Select } from '../ui/select.tsx';

interface ScopePickerProps {
  readonly value: string;
  readonly onChange: (scope: string) => void;
}

/** Whose requests are shown; absent where the viewer may see only their own. */
export function ScopePicker({ value, onChange }: ScopePickerProps) {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const groups = useQuery(api.query('group.list')).data;
  const choices = useMemo(
    () => [
      { value: 'self', label: t('spend.scope.self') },
      ...(isAdmin ? [{ value: 'all', label: t('spend.scope.all') }] : []),
      ...(groups ?? [])
        .filter(({ my_role: role }) => role === 'owner' || role === 'admin')
        .map(({ id, name }) => ({ value: id, label: t('spend.scope.group', { name }) })),
    ],
    [groups, isAdmin, t],
  );
  if (choices.length === 1) return null;
  return (
    <Select
      label={t('spend.scope')}
      isLabelHidden
      value={value}
      choices={choices}
      onChange={onChange}
    />
  );
}
