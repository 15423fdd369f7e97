import { useQuery } from '@tanstack/react-query';
import { useApi, useUser } from '../api/use-api.ts';
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
  const groups = useQuery(api.query('group.list')).data ?? [];
  const managed = groups.filter(({ my_role: role }) => role === 'owner' || role === 'admin');
  if (!isAdmin && managed.length === 0) return null;
  return (
    <Select
      label={t('spend.scope')}
      isLabelHidden
      value={value}
      choices={[
        { value: 'self', label: t('spend.scope.self') },
        ...(isAdmin ? [{ value: 'all', label: t('spend.scope.all') }] : []),
        ...managed.map(({ id, name }) => ({ value: id, label: t('spend.scope.group', { name }) })),
      ]}
      onChange={onChange}
    />
  );
}
