import type { AgentModel } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import { specOf, type EngineSpecs } from './engine-spec.ts';
import { startEngine, type Engine } from './engine.ts';
import type { ReadProgress } from './progress-reader.ts';

/** The models that this node runs. */
export interface Engines {
  /** Starts a model, unless it already runs or starts; resolves with its port when it responds. */
  deploy(modelId: string, onProgress: (progress: ReadProgress) => void): Promise<number>;
  /** Resolves when the model has stopped; also for a model that does not run. */
  stop(modelId: string): Promise<void>;
  list(): readonly AgentModel[];
  /** The port of a started model. */
  portOf(modelId: string): number | undefined;
  stopAll(): Promise<void>;
}

interface EnginesDependencies {
  readonly specs: EngineSpecs;
  readonly host: string;
  readonly env: Readonly<Record<string, string>>;
  /** Called when the list has changed. */
  readonly onChange: () => void;
  readonly log: Log;
}

interface RunningEngine {
  readonly engine: Engine;
  /** Progress goes to the last caller of `deploy`. */
  onProgress: (progress: ReadProgress) => void;
}

export function createEngines(dependencies: EnginesDependencies): Engines {
  const { specs, host, env, onChange, log } = dependencies;
  const running = new Map<string, RunningEngine>();

  function start(modelId: string): RunningEngine {
    const spec = specOf(specs, modelId);
    if (spec === undefined) throw new Error('this node is not configured to run this model');
    log.info({ modelId, program: spec.command[0] }, 'starting a model');
    const entry: RunningEngine = {
      onProgress: () => undefined,
      engine: startEngine({
        modelId,
        spec,
        host,
        env,
        onProgress: (progress) => entry.onProgress(progress),
        onChange,
        log,
      }),
    };
    running.set(modelId, entry);
    onChange();
    return entry;
  }

  async function stop(modelId: string): Promise<void> {
    const entry = running.get(modelId);
    if (entry === undefined) return;
    await entry.engine.stop();
    if (running.get(modelId) === entry) running.delete(modelId);
    log.info({ modelId }, 'stopped a model');
    onChange();
  }

  return {
    async deploy(modelId, onProgress) {
      const existing = running.get(modelId);
      const entry =
        existing === undefined || existing.engine.status === 'failed' ? start(modelId) : existing;
      entry.onProgress = onProgress;
      return entry.engine.ready;
    },
    stop,
    list: () =>
      [...running].map(([modelId, { engine }]) => ({
        model_id: modelId,
        status: engine.status,
        port: engine.port ?? null,
      })),
    portOf: (modelId) => running.get(modelId)?.engine.port,
    async stopAll() {
      await Promise.all([...running.keys()].map(stop));
    },
  };
}
