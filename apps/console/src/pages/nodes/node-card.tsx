import type { RpcResult } from '@model-gateway/contracts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Gauge } from '../../ui/gauge.tsx';
import { Badge } from '../../ui/badge.tsx';
import { When } from '../../ui/when.tsx';
import { ModelState } from './model-state.tsx';

type Node = RpcResult<'agents.list'>[number];

interface NodeCardProps {
  readonly node: Node;
  readonly onDeploy: () => void;
  readonly onStop: (model: string) => void;
  readonly onRemove: () => void;
}

const MB = 1024 * 1024;
const PERCENT = 100;

/** One GPU node. */
export function NodeCard({ node, onDeploy, onStop, onRemove }: NodeCardProps) {
  const { t } = useLanguage();
  const { name, status, version, host, last_heartbeat_at: heard, models } = node;
  return (
    <li className="card" aria-label={name}>
      <div className="card-head">
        <h2 className="card-title">{name}</h2>
        <Badge state={status === 'online' ? 'good' : 'bad'}>{t(`nodes.${status}`)}</Badge>
      </div>
      <dl className="card-facts">
        <dt>{t('nodes.version')}</dt>
        <dd>{version}</dd>
        <dt>{t('nodes.host')}</dt>
        <dd>{host === null ? '–' : <code>{host}</code>}</dd>
        <dt>{t('nodes.heartbeat')}</dt>
        <dd>{heard === null ? t('nodes.heartbeat.never') : <When time={heard} />}</dd>
      </dl>
      <Gpus node={node} />
      <h3 className="field-label">{t('nodes.models')}</h3>
      {models.length === 0 ? <p className="card-note">{t('nodes.models.none')}</p> : null}
      <ul className="plain-list node-models">
        {models.map(({ model_id: model, status: state }) => (
          <li key={model} className="card-head">
            <code>{model}</code>
            <ModelState status={state} />
            <Button aria-label={t('nodes.stop.of', { model, name })} onClick={() => onStop(model)}>
              {t('nodes.stop')}
            </Button>
          </li>
        ))}
      </ul>
      <div className="card-actions">
        <Button
          aria-label={t('nodes.deploy.of', { name })}
          disabled={status !== 'online'}
          onClick={onDeploy}
        >
          {t('nodes.deploy')}
        </Button>
        <Button aria-label={t('nodes.remove.of', { name })} onClick={onRemove}>
          {t('nodes.remove')}
        </Button>
      </div>
    </li>
  );
}

function Gpus({ node: { gpus } }: { readonly node: Node }) {
  const { t, format } = useLanguage();
  if (gpus.length === 0) return <p className="card-note">{t('nodes.gpu.none')}</p>;
  return (
    <ul className="plain-list node-gpus">
      {gpus.map((gpu, index) => {
        // Most machines have several of one kind; nvidia-smi numbers them in this order.
        const name = gpus.length === 1 ? gpu.name : `${gpu.name} #${index}`;
        return (
          <li key={name} className="form">
            <Gauge
              label={t('nodes.gpu.memory', { name })}
              value={gpu.memory_used_mb}
              max={gpu.memory_total_mb}
              text={t('nodes.gpu.memory.value', {
                used: format.bytes(gpu.memory_used_mb * MB),
                total: format.bytes(gpu.memory_total_mb * MB),
              })}
            />
            <Gauge
              label={t('nodes.gpu.load', { name })}
              value={gpu.utilization}
              max={PERCENT}
              text={format.percent(gpu.utilization / PERCENT)}
            />
          </li>
        );
      })}
    </ul>
  );
}
