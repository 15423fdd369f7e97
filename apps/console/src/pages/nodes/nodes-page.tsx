import './nodes.css';
import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { DeployModel } from './deploy-model.tsx';
import { NodeCard } from './node-card.tsx';
import { RegisterNode } from './register-node.tsx';

type Node = RpcResult<'agents.list'>[number];

/** What an admin is about to do. */
type Intent =
  | { readonly kind: 'deploy' | 'remove'; readonly node: Node }
  | { readonly kind: 'stop'; readonly node: Node; readonly model: string };

const AGAIN_MS = 3000;
const CHANGES = ['agents.list'] as const;

/** The GPU nodes: what they have, what they run, deploy and stop. */
export function NodesPage() {
  const { t } = useLanguage();
  const api = useApi();
  const nodes = useQuery({ ...api.query('agents.list'), refetchInterval: AGAIN_MS });
  const [isAdding, setAdding] = useCreating();
  const [intent, setIntent] = useState<Intent>();
  const close = (): void => setIntent(undefined);
  const register = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {t('nodes.add')}
    </Button>
  );
  return (
    <Page title={t('nodes.title')} intro={t('nodes.intro')} actions={register}>
      <ErrorNote error={nodes.error} onRetry={() => void nodes.refetch()} />
      {nodes.isPending ? <Skeleton /> : null}
      {nodes.data?.length === 0 ? <Empty text={t('nodes.empty')} action={register} /> : null}
      {nodes.data === undefined || nodes.data.length === 0 ? null : (
        <ul className="cards">
          {nodes.data.map((node) => (
            <NodeCard
              key={node.id}
              node={node}
              onDeploy={() => setIntent({ kind: 'deploy', node })}
              onStop={(model) => setIntent({ kind: 'stop', node, model })}
              onRemove={() => setIntent({ kind: 'remove', node })}
            />
          ))}
        </ul>
      )}
      {isAdding ? <RegisterNode onClose={() => setAdding(false)} /> : null}
      {intent?.kind === 'deploy' ? <DeployModel node={intent.node} onClose={close} /> : null}
      {intent?.kind === 'stop' ? (
        <StopModel node={intent.node} model={intent.model} onClose={close} />
      ) : null}
      {intent?.kind === 'remove' ? <RemoveNode node={intent.node} onClose={close} /> : null}
    </Page>
  );
}

interface StopModelProps {
  readonly node: Node;
  readonly model: string;
  readonly onClose: () => void;
}

function StopModel({ node, model, onClose }: StopModelProps) {
  const { t } = useLanguage();
  const stop = useCall('agents.stop', { changes: CHANGES });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('nodes.stop.title', { model })}
      text={t('nodes.stop.text')}
      action={t('nodes.stop.submit')}
      isPending={stop.isPending}
      error={stop.error}
      onConfirm={() => stop.mutate({ agent_id: node.id, model_id: model }, { onSuccess: onClose })}
    />
  );
}

function RemoveNode({ node, onClose }: { readonly node: Node; readonly onClose: () => void }) {
  const { t } = useLanguage();
  const remove = useCall('agents.deregister', { changes: CHANGES });
  const models = node.models.map(({ model_id: id }) => id).join(', ');
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('nodes.remove.title', { name: node.name })}
      text={t('nodes.remove.text', { models: models === '' ? t('nodes.models.none') : models })}
      action={t('nodes.remove.submit')}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ agent_id: node.id }, { onSuccess: onClose })}
    />
  );
}
