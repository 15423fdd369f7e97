import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { linePoints } from './line-points.ts';

const REQUESTS = 30;
const WIDTH = 120;
const HEIGHT = 24;

/** How long the last requests to a backend took, as a small line and in words. */
export function LatencyLine({ backend }: { readonly backend: string }) {
  const { t, format } = useLanguage();
  const api = useApi();
  const { data } = useQuery(
    api.query('requests.list', { scope: 'all', upstream: backend, limit: REQUESTS }),
  );
  const times = (data?.requests ?? [])
    .flatMap(({ latency_ms: ms }) => (ms === null ? [] : [ms]))
    .toReversed();
  const last = times.at(-1);
  if (last === undefined) return <>{t('backends.latency.none')}</>;
  return (
    <span className="latency">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden>
        <polyline
          points={linePoints(times, WIDTH, HEIGHT)}
          fill="none"
          stroke="currentColor"
          strokeWidth={1.5}
        />
      </svg>
      {t('backends.latency.range', {
        min: format.duration(Math.min(...times)),
        max: format.duration(Math.max(...times)),
        last: format.duration(last),
      })}
    </span>
  );
}
