import { z } from 'zod';

/** How a model is run: a command, or a preset with changes. */
export interface EngineSpec {
  /** The server: the program and its arguments. */
  readonly command: readonly string[];
  /** Downloads the model once the server responds, where the server does not do that itself. */
  readonly pull: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** The engine's name of the model, where that is not its id. */
  readonly model: string | undefined;
  /** The path that returns 200 once the model is ready. */
  readonly readyPath: string;
  readonly readyTimeoutMs: number;
  readonly stopGraceSecs: number;
}

const words = (line: string): readonly string[] => line.split(' ');

/** The engines with a preset. `{model}`, `{id}`, `{host}` and `{port}` are replaced. */
export const PRESETS = {
  ollama: {
    command: words('ollama serve'),
    pull: words('ollama pull {model}'),
    env: { OLLAMA_HOST: '{host}:{port}' },
  },
  vllm: {
    command: words('vllm serve {model} --served-model-name {id} --host {host} --port {port}'),
  },
  'llama.cpp': {
    command: words('llama-server --hf-repo {model} --alias {id} --host {host} --port {port}'),
    // Not the listing: llama-server lists the model while it still loads it.
    ready: '/health',
  },
} as const satisfies Record<string, PresetSpec>;

interface PresetSpec {
  readonly command: readonly string[];
  readonly pull?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly ready?: string;
}

export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES: readonly PresetName[] = ['ollama', 'vllm', 'llama.cpp'];

const READY_PATH = '/v1/models';
const READY_TIMEOUT_SECS = 1_800;
const STOP_GRACE_SECS = 15;
const SECOND_MS = 1_000;

const command = z.array(z.string().min(1)).min(1);

/** One engine in the configuration file. */
export const engineSchema = z
  .strictObject({
    preset: z.enum(PRESET_NAMES).optional(),
    command: command.optional(),
    pull: command.optional(),
    /** Appended to the command. */
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
    model: z.string().min(1).optional(),
    ready: z.string().startsWith('/').optional(),
    ready_timeout_secs: z.number().positive().default(READY_TIMEOUT_SECS),
    stop_timeout_secs: z.number().positive().default(STOP_GRACE_SECS),
  })
  .refine(({ preset, command: own }) => (preset === undefined) !== (own === undefined), {
    message: 'set either preset or command',
  })
  .transform((entry): EngineSpec => {
    const preset: PresetSpec | undefined = entry.preset && PRESETS[entry.preset];
    return {
      command: [...(entry.command ?? preset?.command ?? []), ...entry.args],
      pull: entry.pull ?? preset?.pull,
      env: { ...preset?.env, ...entry.env },
      model: entry.model,
      readyPath: entry.ready ?? preset?.ready ?? READY_PATH,
      readyTimeoutMs: entry.ready_timeout_secs * SECOND_MS,
      stopGraceSecs: entry.stop_timeout_secs,
    };
  });

/** The configuration file: which models can be deployed here, and how. */
export const engineFileSchema = z.strictObject({
  models: z.record(z.string(), engineSchema).default({}),
  /** For models that are not listed; without it they cannot be deployed. */
  default: engineSchema.optional(),
});

/** The engines of this node. */
export interface EngineSpecs {
  readonly models: Readonly<Record<string, EngineSpec>>;
  readonly default?: EngineSpec | undefined;
}

/** How a model is run on this node; undefined when it cannot be. */
export function specOf(specs: EngineSpecs, modelId: string): EngineSpec | undefined {
  return Object.hasOwn(specs.models, modelId) ? specs.models[modelId] : specs.default;
}

/** The values for a template. */
export interface TemplateValues {
  readonly id: string;
  readonly model: string;
  readonly host: string;
  readonly port: number;
}

/** Replaces `{model}`, `{id}`, `{host}` and `{port}`; anything else in braces stays. */
export const fill = (template: string, values: TemplateValues): string =>
  template.replaceAll(/\{(model|id|host|port)\}/g, (_whole, name: keyof TemplateValues) =>
    String(values[name]),
  );
