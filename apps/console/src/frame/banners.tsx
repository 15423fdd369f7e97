import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ServiceStatus } from '../api/connection.ts';
import { useApi } from '../api/use-api.ts';
import { useQuery } from '../api/use-query.ts';
import { useConnection } from '../api/use-connection.ts';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from '../ui/button.tsx';
import { isNewBuild } from './build.ts';

const STORES = ['postgres', 'redis'] as const;
type Store = (typeof STORES)[number];

interface Health {
  readonly checks?: Readonly<Record<Store, 'ok' | 'away'>>;
}

const HEALTH_MS = 15_000;

/** What concerns the whole page: no connection, a store that is away, or a new version of the console. */
export function Banners() {
  const { t } = useLanguage();
  const connection = useConnection();
  const state = useSyncExternalStore(connection.onChange, connection.getState);
  const hasNewBuild = useNewBuild(connection);
  const storesAway = useStoresAway();
  return (
    <div role="status">
      {state === 'lost' ? (
        <div className="banner banner-warning">
          {t('frame.connection_lost')}
          <Button onClick={() => connection.retry()}>{t('action.retry')}</Button>
        </div>
      ) : (
        storesAway.map((store) => (
          <div key={store} className="banner banner-warning">
            {t(`frame.away.${store}`)}
          </div>
        ))
      )}
      {hasNewBuild ? (
        <div className="banner">
          {t('frame.new_version')}
          <Button onClick={() => location.reload()}>{t('action.reload')}</Button>
        </div>
      ) : null}
    </div>
  );
}

/** The service answers without its stores, as far as it can; what is missing then has this reason. */
function useStoresAway(): readonly Store[] {
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['/healthz'],
    queryFn: ({ signal }) => api.rest<Health>('/healthz', { signal }),
    refetchInterval: HEALTH_MS,
  });
  return STORES.filter((store) => data?.checks?.[store] === 'away');
}

/** Asked on every new connection, because an upgrade ends the old one, and when the page is looked at again. */
function useNewBuild(connection: ServiceStatus): boolean {
  const [hasNewBuild, setNewBuild] = useState(false);
  useEffect(() => {
    const check = (): void => {
      if (document.hidden) return;
      void isNewBuild().then((isNew) => isNew && setNewBuild(true));
    };
    const stop = connection.onConnect(check);
    document.addEventListener('visibilitychange', check);
    return () => {
      stop();
      document.removeEventListener('visibilitychange', check);
    };
  }, [connection]);
  return hasNewBuild;
}
