import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const AGAIN_MS = 15_000;
const SECOND_MS = 1000;

/** How the service is doing, in a few numbers. */
export function SystemStatus() {
  const { t, format } = useLanguage();
  const api = useApi();
  const status = useQuery({ ...api.query('system.status'), refetchInterval: AGAIN_MS });
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    [t('status.uptime'), valueOf('uptime_seconds', (value) => format.duration(value * SECOND_MS))],
    [t('status.requests'), valueOf('requests_total')],
    [t('status.requests_per_minute'), valueOf('requests_per_minute')],
    [t('status.nodes'), valueOf('agents_online')],
    [t('status.gpu_nodes'), valueOf('gpu_nodes')],
    [t('status.models'), valueOf('models_deployed')],
  ];
  return (
    <section className="panel" aria-labelledby="system-status">
      <h2 id="system-status">{t('status.title')}</h2>
      <ErrorNote error={status.error} onRetry={() => void status.refetch()} />
      <dl className="fact-grid">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? '–'}</dd>
          </div>
        ))}
      </dl>
    </section>
  );

  function valueOf(
    name: keyof NonNullable<typeof status.data>,
    show: (value: number) => string = (value) => format.number(value),
  ): string | undefined {
    const value = status.data?.[name];
    return value === undefined ? undefined : show(value);
  }
}
