import type { AgentModel } from '@model-gateway/contracts';
import { createSequence, describeError, type Log } from '@model-gateway/kernel';
import {
  IGNORED,
  READY,
  type AgentConnections,
  type BackendAnnouncer,
  type DeployedModel,
  type NodeConnection,
  type PlacedBackend,
  type PlacementOptions,
} from '@model-gateway/router';
import { NodeError } from '../nodes/agent-calls.ts';
import type { ModelLocation, ModelLocator } from './model-locator.ts';

/**
 * The models of one node and where they are reached; changes are stored and announced. A model that is not deployed on the
 * node is listed as ignored: it is neither called nor routable.
 */
export interface NodeModels {
  /** Sets which models are deployed on the node, as stored. */
  setDeployed(modelIds: readonly string[]): void;
  /** Handles the models that the node reports. */
  report(models: readonly AgentModel[]): void;
  ids(): readonly string[];
  /** The port of a model that is deployed and ready. */
  readyPort(modelId: string): number | undefined;
  /** Makes a deployed model routable; rejects with a NodeError when it does not respond anywhere. */
  add(modelId: string, port: number): Promise<void>;
  /** Makes a model unroutable and then stops it; reports of the node do not add it again. */
  remove(modelId: string, stop: () => Promise<void>): Promise<void>;
  /** Checks whether the models still respond where they were located. */
  recheck(): void;
  /** Stores all models again. */
  save(): Promise<void>;
  /** Stores a model again after its deployment has failed, in the background. */
  refresh(modelId: string): void;
}

interface NodeModelsDependencies {
  readonly node: NodeConnection;
  readonly connections: Pick<AgentConnections, 'saveModels'>;
  readonly announcer: BackendAnnouncer;
  readonly locator: ModelLocator;
  readonly onlineSince: () => Date;
  /** The port of models that name none. */
  readonly defaultPort: number | null;
  /** Whether a deployment of this model is in progress. */
  readonly isDeploying: (modelId: string) => boolean;
  /** The node belongs to another connection, or to none. */
  readonly onLost: () => void;
  readonly log: Log;
}

type DeploymentChange = Pick<PlacementOptions, 'deployed' | 'stopped'>;

/** How many such log lines a connection can cause: a node can report other models with every frame. */
const IGNORED_LOGS_MAX = 20;
const IGNORED_IDS_LOGGED_MAX = 10;

export function createNodeModels(dependencies: NodeModelsDependencies): NodeModels {
  const { node, connections, announcer, locator, onlineSince, defaultPort, onLost, log } =
    dependencies;
  const { isDeploying } = dependencies;
  const sequence = createSequence();
  const stopping = new Set<string>();
  let deployed: ReadonlySet<string> = new Set();
  let known: ReadonlyMap<string, DeployedModel> = new Map();
  const locations = new Map<string, { readonly port: number; readonly location: ModelLocation }>();
  let isReportQueued = false;
  let isRechecking = false;
  let reported = '';
  let ignoredLogged = '';
  let ignoredLogs = 0;

  const isIgnored = (modelId: string): boolean => !deployed.has(modelId) && !isDeploying(modelId);

  function logIgnored(): void {
    const ignored = [...known.keys()].filter(isIgnored);
    const text = JSON.stringify(ignored);
    if (ignored.length === 0 || text === ignoredLogged || ignoredLogs >= IGNORED_LOGS_MAX) return;
    ignoredLogged = text;
    ignoredLogs += 1;
    log.warn(
      {
        agentId: node.agentId,
        models: ignored.slice(0, IGNORED_IDS_LOGGED_MAX),
        count: ignored.length,
      },
      'ignored models that were not deployed on the agent',
    );
  }

  async function locate({
    modelId,
    status,
    port,
  }: DeployedModel): Promise<ModelLocation | undefined> {
    if (status !== READY || port === null || !deployed.has(modelId)) {
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

  /** False when the connection has lost its node. */
  async function write(change: DeploymentChange = {}): Promise<boolean> {
    const models = await Promise.all(
      [...known.values()].map(async (model) => ({
        ...model,
        status: isIgnored(model.modelId) ? IGNORED : model.status,
        url: (await locate(model))?.url ?? null,
      })),
    );
    const saved = await connections.saveModels(node, models, {
      onlineSince: onlineSince(),
      ...change,
    });
    if (saved === undefined) {
      onLost();
      return false;
    }
    deployed = new Set(saved.deployed);
    logIgnored();
    const responsive = new Set(
      [...locations.values()].flatMap(({ location }) =>
        location.isUnresponsive ? [] : [location.url],
      ),
    );
    // A backend that moves to another node was not probed here.
    const isProbed = ({ config }: PlacedBackend): boolean =>
      config !== null && responsive.has(config.url);
    await announcer.announce(saved.backends.filter(isProbed), { isProbed: true });
    await announcer.announce(saved.backends.filter((backend) => !isProbed(backend)));
    return true;
  }

  /** Writes a change that an admin asked for, which must not be lost. */
  async function writeChange(change: DeploymentChange): Promise<void> {
    if (!(await write(change))) throw new NodeError('the agent is offline');
  }

  function writeLater(): void {
    if (isReportQueued) return;
    isReportQueued = true;
    sequence
      .run(async () => {
        isReportQueued = false;
        await write();
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
    setDeployed(modelIds) {
      deployed = new Set(modelIds);
    },
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
      const model = deployed.has(modelId) ? known.get(modelId) : undefined;
      return model?.status === READY ? (model.port ?? undefined) : undefined;
    },
    async add(modelId, port) {
      await sequence.run(async () => {
        const model = { modelId, status: READY, port };
        const wasDeployed = deployed.has(modelId);
        deployed = new Set([...deployed, modelId]);
        known = new Map([...known, [modelId, model]]);
        try {
          if ((await locate(model)) === undefined)
            throw new NodeError(
              'the model is ready, but it responds neither at the agent nor through the tunnel',
            );
          await writeChange({ deployed: modelId });
        } catch (error) {
          if (!wasDeployed) deployed = without(deployed, modelId);
          throw error;
        }
      });
    },
    async remove(modelId, stop) {
      stopping.add(modelId);
      try {
        await sequence.run(async () => {
          known = new Map([...known].filter(([id]) => id !== modelId));
          locations.delete(modelId);
          await writeChange({ stopped: modelId });
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
    async save() {
      await sequence.run(() => write());
    },
    refresh(modelId) {
      if (known.has(modelId)) writeLater();
    },
  };
}

const without = (ids: ReadonlySet<string>, removed: string): ReadonlySet<string> =>
  new Set([...ids].filter((id) => id !== removed));
