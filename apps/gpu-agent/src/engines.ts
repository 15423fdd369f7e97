import type { AgentModel } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import { specOf, type EngineSpecs } from './engine-spec.ts';
import { startEngine, type Engine } from './engine.ts';
import type { ReadProgress } from './progress-reader.ts';

/** The models that this node runs. */
export interface Engines {
  /** Starts a model, unless it runs or is being started already; resolves with its port when it answers. */
  deploy(modelId: string, onProgress: (progress: ReadProgress) => void): Promise<number>;
  /** Resolves when it is gone; a model that is not there is gone. */
  stop(modelId: string): Promise<void>;
  list(): readonly AgentModel[];
  /** Where a model listens that was started. */
  portOf(modelId: string): number | undefined;
  stopAll(): Promise<void>;
}

interface EnginesDependencies {
  readonly specs: EngineSpecs;
  readonly host: string;
  readonly env: Readonly<Record<string, string>>;
  /** Told when the list is another one. */
  readonly onChange: () => void;
  readonly log: Log;
}

interface Running {
  readonly engine: Engine;
  /** Whoever asked last is told how it goes. */
  onProgress: (progress: ReadProgress) => void;
}

export function createEngines(dependencies: EnginesDependencies): Engines {
  const { specs, host, env, onChange, log } = dependencies;
  const running = new Map<string, Running>();

  function start(modelId: string): Running {
    const spec = specOf(specs, modelId);
    if (spec === undefined) throw new Error('this node is not configured to run this model');
    log.info({ modelId, program: spec.command[0] }, 'a model is started');
    const entry: Running = {
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
    log.info({ modelId }, 'a model was stopped');
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
