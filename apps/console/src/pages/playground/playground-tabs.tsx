import './playground-tabs.css';
import { Link } from '@tanstack/react-router';
import { canEmbed, canTalk, modelsQuery } from '../../api/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';

/** What can be tried, as far as there is a model for it. */
export function PlaygroundTabs() {
  const { t } = useLanguage();
  const models = useQuery(modelsQuery(useApi())).data ?? [];
  const tabs = [
    { to: '/playground', text: 'playground.chat', isThere: true },
    { to: '/playground/embeddings', text: 'playground.embeddings', isThere: models.some(canEmbed) },
    { to: '/playground/realtime', text: 'playground.realtime', isThere: models.some(canTalk) },
  ] as const;
  const shown = tabs.filter(({ isThere }) => isThere);
  if (shown.length === 1) return null;
  return (
    <nav className="playground-tabs" aria-label={t('playground.title')}>
      {shown.map(({ to, text }) => (
        <Link
          key={to}
          to={to}
          className="playground-tab"
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {t(text)}
        </Link>
      ))}
    </nav>
  );
}
