import './settings.css';
import { getRouteApi } from '@tanstack/react-router';
import type { RpcResult } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { CodeText } from '../../ui/code-text.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { SystemStatus } from './system-status.tsx';

const route = getRouteApi('/shell/settings');

type Setting = RpcResult<'system.settings'>['settings'][number];

/** What the service was started with. It is changed where the service is started, not here. */
export function SettingsPage() {
  const { t } = useLanguage();
  const api = useApi();
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(api.query('system.settings'));
  const words = find.toLowerCase();
  const shown = useMemo(
    () =>
      (query.data?.settings ?? []).filter(({ name, description }) =>
        `${name} ${description}`.toLowerCase().includes(words),
      ),
    [query.data, words],
  );
  return (
    <Page title={t('settings.title')} intro={t('settings.intro')}>
      <SearchField
        label={t('settings.find')}
        value={find}
        onChange={(text) => navigate({ search: text === '' ? {} : { find: text }, replace: true })}
      />
      <SystemStatus />
      <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending ? <Skeleton lines={8} /> : null}
      {query.data !== undefined && shown.length === 0 ? <Empty text={t('settings.none')} /> : null}
      {shown.length === 0 ? null : <SettingTable settings={shown} />}
    </Page>
  );
}

function SettingTable({ settings }: { readonly settings: readonly Setting[] }) {
  const { t } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Setting>[] => [
      {
        id: 'name',
        header: t('settings.column.name'),
        cell: ({ name, description }) => (
          <div className="setting-name">
            <code>{name}</code>
            <small>
              <CodeText text={description} />
            </small>
          </div>
        ),
        sortBy: ({ name }) => name,
      },
      {
        id: 'value',
        header: t('settings.column.value'),
        cell: (setting) => <SettingValue setting={setting} />,
      },
      {
        id: 'source',
        header: t('settings.column.source'),
        cell: ({ source }) => (
          <Badge state={source === 'default' ? 'neutral' : 'good'}>
            {t(`settings.source.${source}`)}
          </Badge>
        ),
        sortBy: ({ source }) => source,
      },
    ],
    [t],
  );
  return (
    <DataTable
      label={t('settings.title')}
      name="settings"
      columns={columns}
      rows={settings}
      rowId={({ name }) => name}
    />
  );
}

function SettingValue({ setting }: { readonly setting: Setting }) {
  const { t } = useLanguage();
  const { value, is_set: isSet } = setting;
  if (value === null) return t(isSet ? 'settings.secret.set' : 'settings.not_set');
  return <code className="setting-value">{value}</code>;
}
