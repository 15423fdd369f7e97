import {
  sessionChannel,
  type RpcNotification,
  type RpcNotificationParams,
} from '@model-gateway/contracts';
import { describeError, type Channels, type Log } from '@model-gateway/kernel';
import type { BrokenDeploy } from './agent-store.ts';

/** The notifications on the stream of a deployment. */
export type DeployNotice = RpcNotificationParams<'models.progress'>;

/** Publishes the progress of deployments. */
export interface DeployNotices {
  push(notice: DeployNotice): Promise<void>;
  /** The end of a deployment, on each of its streams. */
  fail(deploy: BrokenDeploy, message: string): Promise<void>;
}

export function createDeployNotices(dependencies: {
  readonly channels: Pick<Channels, 'publish'>;
  readonly log: Log;
}): DeployNotices {
  const { channels, log } = dependencies;

  async function push(params: DeployNotice): Promise<void> {
    const message: RpcNotification = { jsonrpc: '2.0', method: 'models.progress', params };
    try {
      await channels.publish(sessionChannel(params.stream_id), JSON.stringify(message));
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'publishing a notification failed');
    }
  }

  return {
    push,
    async fail(deploy, message) {
      await Promise.all(failureNotices(deploy, message).map(push));
    },
  };
}

/** The failure of a deployment, once for each stream. */
export const failureNotices = (
  { agentId, modelId, streams }: BrokenDeploy,
  message: string,
): readonly DeployNotice[] =>
  streams.map((streamId) => ({
    stream_id: streamId,
    agent_id: agentId,
    model_id: modelId,
    status: 'failed',
    progress: 0,
    message,
  }));
