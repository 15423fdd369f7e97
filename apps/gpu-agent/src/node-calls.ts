import { AGENT_METHODS, agentDeploySchema, agentStopSchema } from '@model-gateway/contracts';
import type { Engines } from './engines.ts';
import { UnknownMethod, type Notify } from './link.ts';
import type { ReadProgress } from './progress-reader.ts';

/** Handles the calls of the gateway. */
export type NodeCalls = (method: string, params: unknown, notify: Notify) => Promise<unknown>;

/** Engines redraw progress bars many times a second. */
const REPORT_INTERVAL_MS_MIN = 250;
/** The gateway fails a deployment without reports after some minutes. */
const REPORT_INTERVAL_MS_MAX = 30_000;

export function createNodeCalls(engines: Pick<Engines, 'deploy' | 'stop'>): NodeCalls {
  async function deploy(modelId: string, streamId: string, notify: Notify): Promise<unknown> {
    const reporter = createReporter((progress) =>
      notify(AGENT_METHODS.progress, {
        stream_id: streamId,
        model_id: modelId,
        ...wireOf(progress),
      }),
    );
    try {
      return { port: await engines.deploy(modelId, (progress) => reporter.report(progress)) };
    } finally {
      reporter.stop();
    }
  }

  return async (method, params, notify) => {
    switch (method) {
      case AGENT_METHODS.deploy: {
        const { model_id, stream_id } = agentDeploySchema.parse(params);
        return deploy(model_id, stream_id, notify);
      }
      case AGENT_METHODS.stop:
        await engines.stop(agentStopSchema.parse(params).model_id);
        return { ok: true };
      default:
        throw new UnknownMethod(`unknown method: ${method}`);
    }
  };
}

/** Sends progress at a limited rate, and repeats it when it does not change. */
function createReporter(send: (progress: ReadProgress) => void) {
  let latest: ReadProgress = { status: 'loading', progress: 0 };
  let sentAt = -Infinity;
  const sendLatest = (): void => {
    sentAt = performance.now();
    send(latest);
  };
  sendLatest();
  const timer = setInterval(sendLatest, REPORT_INTERVAL_MS_MAX);
  return {
    report(progress: ReadProgress): void {
      const hasChanged = progress.status !== latest.status || progress.progress !== latest.progress;
      latest = progress;
      if (hasChanged && performance.now() - sentAt >= REPORT_INTERVAL_MS_MIN) sendLatest();
    },
    stop: () => clearInterval(timer),
  };
}

const wireOf = ({ status, progress, downloadedBytes, totalBytes }: ReadProgress) => ({
  status,
  progress,
  ...(downloadedBytes === undefined ? {} : { downloaded_bytes: downloadedBytes }),
  ...(totalBytes === undefined ? {} : { total_bytes: totalBytes }),
});
