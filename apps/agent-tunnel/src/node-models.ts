import type { AgentModel } from '@model-gateway/contracts';
import { describeError, type Log } from '@model-gateway/kernel';
import {
  READY,
  type AgentConnections,
  type BackendAnnouncer,
  type DeployedModel,
  type HeldAgent,
  type PlacedBackend,
} from '@model-gateway/router';
import { NodeError } from './agent-calls.ts';
import type { Located, Reach } from './reach.ts';
import { createSequence } from './sequence.ts';

/** The models of one node: what it has, where they are reached, and that everybody knows. */
export interface NodeModels {
  /** What the node says that it has. */
  report(models: readonly AgentModel[]): void;
  ids(): readonly string[];
  readyPort(modelId: string): number | undefined;
  /** Puts a model that was just deployed into service; rejects with a NodeError when it answers nowhere. */
  add(modelId: string, port: number): Promise<void>;
  /** Takes a model out of service, and then stops it; what the node reports meanwhile does not bring it back. */
  remove(modelId: string, stop: () => Promise<void>): Promise<void>;
  /** Looks whether the models are still where they were found. */
  recheck(): void;
  /** Writes everything down once more. */
  save(): Promise<void>;
}

interface NodeModelsDependencies {
  readonly held: HeldAgent;
  readonly connections: Pick<AgentConnections, 'saveModels'>;
  readonly announcer: BackendAnnouncer;
  readonly reach: Reach;
  readonly onlineSince: () => Date;
  /** Where models listen that name no port of their own. */
  readonly defaultPort: number | null;
  /** The node belongs to another connection, or to none. */
  readonly onLost: () => void;
  readonly log: Log;
}

export function createNodeModels(dependencies: NodeModelsDependencies): NodeModels {
  const { held, connections, announcer, reach, onlineSince, defaultPort, onLost, log } =
    dependencies;
  const sequence = createSequence();
  const stopping = new Set<string>();
  let known: ReadonlyMap<string, DeployedModel> = new Map();
  const places = new Map<string, { readonly port: number; readonly located: Located }>();
  let isReportQueued = false;
  let isRechecking = false;
  let reported = '';

  async function locate({ modelId, status, port }: DeployedModel): Promise<Located | undefined> {
    if (status !== READY || port === null) {
      places.delete(modelId);
      return undefined;
    }
    const place = places.get(modelId);
    if (place?.port === port) return place.located;
    const located = await reach.locate(modelId, port);
    if (located === undefined) {
      log.warn({ agentId: held.agentId, modelId, port }, 'a model cannot be reached');
      return undefined;
    }
    places.set(modelId, { port, located });
    return located;
  }

  async function write(redeployed?: string): Promise<void> {
    const models = await Promise.all(
      [...known.values()].map(async (model) => ({
        ...model,
        url: (await locate(model))?.url ?? null,
      })),
    );
    const placed = await connections.saveModels(held, models, {
      onlineSince: onlineSince(),
      redeployed,
    });
    if (placed === undefined) return onLost();
    const answering = new Set(
      [...places.values()].flatMap(({ located }) => (located.isSilent ? [] : [located.url])),
    );
    // What another node takes over from this one was not probed here.
    const isProbed = ({ config }: PlacedBackend): boolean =>
      config !== null && answering.has(config.url);
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
        // The next report writes it down.
        reported = '';
        log.warn({ reason: describeError(error) }, 'the models of an agent were not written down');
      });
  }

  async function lookAgain(): Promise<void> {
    for (const model of known.values()) {
      const place = places.get(model.modelId);
      // One that was silent is looked for anew when it answers, the others when they do not.
      if (
        place !== undefined &&
        (await reach.isThere(model.modelId, place.located)) !== (place.located.isSilent === true)
      )
        continue;
      places.delete(model.modelId);
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
            'the model is ready, but it answers neither at the agent nor through the tunnel',
          );
        await write(modelId);
      });
    },
    async remove(modelId, stop) {
      stopping.add(modelId);
      try {
        await sequence.run(async () => {
          known = new Map([...known].filter(([id]) => id !== modelId));
          places.delete(modelId);
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
      void lookAgain().finally(() => {
        isRechecking = false;
      });
    },
    save: () => sequence.run(() => write()),
  };
}
