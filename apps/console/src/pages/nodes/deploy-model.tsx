import type { RpcResult } from '@model-gateway/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Gauge } from '../../ui/gauge.tsx';
import { ModelState } from './model-state.tsx';
import { withProgress, type DeployState } from './deploy-state.ts';

interface DeployModelProps {
  readonly node: RpcResult<'agents.list'>[number];
  readonly onClose: () => void;
}

const PERCENT = 100;

/** Deploys a model and follows it: progress, and what the engine says. */
export function DeployModel({ node, onClose }: DeployModelProps) {
  const { t, format } = useLanguage();
  const deploy = useCall('agents.deploy', { changes: ['agents.list'] });
  const state = useDeployState(deploy.data?.stream_id);
  const model = deploy.variables?.model_id ?? '';
  return (
    <Dialog isOpen onClose={onClose} title={t('nodes.deploy.title', { name: node.name })}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const id = trimmedText(new FormData(event.currentTarget), 'model');
          deploy.mutate({ agent_id: node.id, model_id: id });
        }}
      >
        <TextField
          label={t('nodes.deploy.model')}
          hint={t('nodes.deploy.model.hint')}
          name="model"
          required
        />
        <ErrorNote error={deploy.error} />
        {state === undefined ? null : (
          <div className="form" role="status">
            <div className="card-head">
              <code>{model}</code>
              <ModelState status={state.status} />
            </div>
            <Gauge
              label={t('nodes.deploy.progress', { model })}
              value={state.progress}
              max={PERCENT}
              text={format.percent(state.progress / PERCENT)}
            />
            {state.lines.length === 0 ? null : (
              <CodeBlock label={t('nodes.deploy.lines')} code={state.lines.join('\n')} wraps />
            )}
            <p className="card-note">{t('nodes.deploy.leave')}</p>
          </div>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.close')}</Button>
          <Button kind="primary" type="submit" disabled={deploy.isPending}>
            {t('nodes.deploy.submit')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** What the stream of a deployment has reported so far. */
function useDeployState(streamId: string | undefined): DeployState | undefined {
  const api = useApi();
  const queries = useQueryClient();
  const [state, setState] = useState<DeployState>();
  useEffect(() => {
    if (streamId === undefined) return undefined;
    const stopping = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const event of api.subscribe(streamId, stopping.signal)) {
        if (!('method' in event) || event.method !== 'models.progress') continue;
        setState((before) => withProgress(before, event.params));
        if (event.params.status !== 'ready' && event.params.status !== 'failed') continue;
        await queries.invalidateQueries({ queryKey: ['agents.list'] });
        return;
      }
    };
    // The list of nodes shows the state as well, so a lost stream loses nothing.
    follow().catch(() => undefined);
    return () => stopping.abort();
  }, [api, queries, streamId]);
  return state;
}
