import type { AgentModel } from '@model-gateway/contracts';
import { createSequence, describeError, type Log } from '@model-gateway/kernel';
import {
  READY,
  type AgentConnections,
  type BackendAnnouncer,
  type DeployedModel,
  type NodeConnection,
  type PlacedBackend,
} from '@model-gateway/router';
import { NodeError } from './agent-calls.ts';
import type { ModelLocation, ModelLocator } from './model-locator.ts';

/** The models of one node and where they are reached; changes are stored and announced. */
export interface NodeModels {
  /** Handles the models that the node reports. */
  report(models: readonly AgentModel[]): void;
  ids(): readonly string[];
  readyPort(modelId: string): number | undefined;
  /** Makes a deployed model routable; rejects with a NodeError when it does not respond anywhere. */
  add(modelId: string, port: number): Promise<void>;
  /** Makes a model unroutable and then stops it; reports of the node meanwhile do not add it again. */
  remove(modelId: string, stop: () => Promise<void>): Promise<void>;
  /** Checks whether the models still respond where they were located. */
  recheck(): void;
  /** Stores all models again. */
  save(): Promise<void>;
}

interface NodeModelsDependencies {
  readonly node: NodeConnection;
  readonly connections: Pick<AgentConnections, 'saveModels'>;
  readonly announcer: BackendAnnouncer;
  readonly locator: ModelLocator;
  readonly onlineSince: () => Date;
  /** The port of models that name none. */
  readonly defaultPort: number | null;
  /** The node belongs to another connection, or to none. */
  readonly onLost: () => void;
  readonly log: Log;
}

export function createNodeModels(dependencies: NodeModelsDependencies): NodeModels {
  const { node, connections, announcer, locator, onlineSince, defaultPort, onLost, log } =
    dependencies;
  const sequence = createSequence();
  const stopping = new Set<string>();
  let known: ReadonlyMap<string, DeployedModel> = new Map();
  const locations = new Map<string, { readonly port: number; readonly location: ModelLocation }>();
  let isReportQueued = false;
  let isRechecking = false;
  let reported = '';

  async function locate({
    modelId,
    status,
    port,
  }: DeployedModel): Promise<ModelLocation | undefined> {
    if (status !== READY || port === null) {
      locations.delete(modelId);
      return undefined;
    }
    const found = locations.get(modelId);
    if (found?.port === port) return found.location;
    const location = await locator.locate(modelId, port);
    if (location === undefined) {
      log.warn({ agentId: node.agentId, modelId, port }, 'a model cannot be reached');
      return undefined;
    }
    locations.set(modelId, { port, location });
    return location;
  }

  async function write(redeployed?: string): Promise<void> {
    const models = await Promise.all(
      [...known.values()].map(async (model) => ({
        ...model,
        url: (await locate(model))?.url ?? null,
      })),
    );
    const placed = await connections.saveModels(node, models, {
      onlineSince: onlineSince(),
      redeployed,
    });
    if (placed === undefined) return onLost();
    const responsive = new Set(
      [...locations.values()].flatMap(({ location }) =>
        location.isUnresponsive ? [] : [location.url],
      ),
    );
    // A backend that moves to another node was not probed here.
    const isProbed = ({ config }: PlacedBackend): boolean =>
      config !== null && responsive.has(config.url);
    await announcer.announce(placed.filter(isProbed), { isProbed: true });
    await announcer.announce(placed.filter((backend) => !isProbed(backend)));
  }

  function writeLater(): void {
    if (isReportQueued) return;
    isReportQueued = true;
    sequence
      .run(() => {
        isReportQueued = false;
        return write();
      })
      .catch((error: unknown) => {
        // The next report stores it.
        reported = '';
        log.warn({ reason: describeError(error) }, 'storing the models of an agent failed');
      });
  }

  async function checkAll(): Promise<void> {
    for (const model of known.values()) {
      const found = locations.get(model.modelId);
      // An unresponsive one is located again when it responds, the others when they do not.
      if (
        found !== undefined &&
        (await locator.isServing(model.modelId, found.location)) !==
          (found.location.isUnresponsive === true)
      )
        continue;
      locations.delete(model.modelId);
      if (model.status === READY) writeLater();
    }
  }

  return {
    report(models) {
      const text = JSON.stringify([models, [...stopping]]);
      if (text === reported) return;
      reported = text;
      known = new Map(
        models
          .filter(({ model_id }) => !stopping.has(model_id))
          .map(({ model_id, status, port }) => [
            model_id,
            { modelId: model_id, status, port: port ?? defaultPort },
          ]),
      );
      writeLater();
    },
    ids: () => [...known.keys()],
    readyPort(modelId) {
      const model = known.get(modelId);
      return model?.status === READY ? (model.port ?? undefined) : undefined;
    },
    async add(modelId, port) {
      await sequence.run(async () => {
        const model = { modelId, status: READY, port };
        known = new Map([...known, [modelId, model]]);
        if ((await locate(model)) === undefined)
          throw new NodeError(
            'the model is ready, but it responds neither at the agent nor through the tunnel',
          );
        await write(modelId);
      });
    },
    async remove(modelId, stop) {
      stopping.add(modelId);
      try {
        await sequence.run(async () => {
          known = new Map([...known].filter(([id]) => id !== modelId));
          locations.delete(modelId);
          await write();
        });
        await stop();
      } finally {
        stopping.delete(modelId);
        reported = '';
      }
    },
    recheck() {
      if (isRechecking) return;
      isRechecking = true;
      void checkAll().finally(() => {
        isRechecking = false;
      });
    },
    save: () => sequence.run(() => write()),
  };
}
