import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ServiceStatus } from '../api/connection.ts';
import { useConnection } from '../api/use-connection.ts';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from '../ui/button.tsx';
import { isNewBuild } from './build.ts';

/** What concerns the whole page: no connection, or a new version of the console. */
export function Banners() {
  const { t } = useLanguage();
  const connection = useConnection();
  const state = useSyncExternalStore(connection.onChange, connection.getState);
  const hasNewBuild = useNewBuild(connection);
  return (
    <div role="status">
      {state === 'lost' ? (
        <div className="banner banner-warning">
          {t('frame.connection_lost')}
          <Button onClick={() => connection.retry()}>{t('action.retry')}</Button>
        </div>
      ) : null}
      {hasNewBuild ? (
        <div className="banner">
          {t('frame.new_version')}
          <Button onClick={() => location.reload()}>{t('action.reload')}</Button>
        </div>
      ) : null}
    </div>
  );
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
