import { z } from 'zod';

/** What an agent node and the tunnel say to each other: JSON-RPC 2.0 in text frames. */
export const AGENT_METHODS = {
  /** Agent → tunnel, first; answered with `agentWelcomeSchema`. */
  hello: 'Agent.Hello',
  /** Agent → tunnel, a notification. */
  heartbeat: 'Agent.Heartbeat',
  /** Agent → tunnel, a notification. */
  progress: 'Agent.Progress',
  /** Tunnel → agent; answered when the model is ready. */
  deploy: 'Agent.Deploy',
  /** Tunnel → agent; answered when the model is gone. */
  stop: 'Agent.Stop',
  /** Tunnel → agent, a notification: connect anew and keep this connection until it is closed, because its process stops. */
  move: 'Agent.Move',
} as const;

/** Why the tunnel closed a connection for good. */
export const AGENT_CLOSE_CODES = {
  /** The same agent has connected anew. */
  replaced: 4000,
  deregistered: 4001,
} as const;

/** No frame is larger, text or binary. */
export const AGENT_FRAME_BYTES_MAX = 1024 * 1024;

const GPUS_MAX = 64;
const MODELS_MAX = 256;
const MODEL_ID_CHARS_MAX = 128;
const MESSAGE_CHARS_MAX = 1_000;
const PORT_MAX = 65_535;
const PERCENT_MAX = 100;

const storable = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .refine((text) => !text.includes('\u0000'), 'must not contain NUL characters');
const modelId = storable(MODEL_ID_CHARS_MAX).min(1);
const port = z.int().min(1).max(PORT_MAX);
const megabytes = z.number().nonnegative();
const percent = z.number().min(0).max(PERCENT_MAX);
const bytes = z.int().nonnegative();

/** One GPU and what it does now. */
const agentGpuSchema = z.object({
  name: storable(128),
  memory_total_mb: megabytes.default(0),
  memory_used_mb: megabytes.default(0),
  utilization: percent.default(0),
});

/** A model on a node; it can be asked once it is `ready` and has a port. */
const agentModelSchema = z.object({
  model_id: modelId,
  status: storable(16).min(1),
  port: port.nullish().transform((value) => value ?? null),
});

const gpus = z.array(agentGpuSchema).max(GPUS_MAX);
const models = z.array(agentModelSchema).max(MODELS_MAX);

/** Says who connected and what it has. */
export const agentHelloSchema = z.object({
  version: storable(64).min(1),
  /** Where its models can be reached; the address that it connects from unless it says another. */
  host: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or an address')
    .nullish(),
  /** Where those of its models listen that name no port of their own. */
  port: port.nullish(),
  gpus: gpus.default([]),
  gpu_utilization: percent.nullish(),
  models: models.default([]),
  /** The version of the HTTP tunnel that it speaks, if any. */
  tunnel: z.int().nullish(),
  /** Whether it understands `Agent.Move`. */
  moves: z.boolean().nullish(),
});

/** What a hello is answered. */
export const agentWelcomeSchema = z.object({ agent_id: z.string(), heartbeat_secs: z.number() });

/** Says that it is alive, and what has changed. */
export const agentHeartbeatSchema = z.object({
  gpus: gpus.optional(),
  gpu_utilization: percent.nullish(),
  models: models.optional(),
});

/** How far a deployment is. */
export const agentProgressSchema = z.object({
  stream_id: z.string(),
  model_id: modelId,
  status: z.enum(['pulling', 'loading', 'ready', 'failed']),
  progress: percent,
  downloaded_bytes: bytes.optional(),
  total_bytes: bytes.optional(),
  message: z.string().max(MESSAGE_CHARS_MAX).optional(),
});

export const agentDeploySchema = z.object({ model_id: modelId, stream_id: z.string() });
export const agentDeployedSchema = z.object({ port });
export const agentStopSchema = z.object({ model_id: modelId });

export type AgentGpu = z.output<typeof agentGpuSchema>;
export type AgentModel = z.output<typeof agentModelSchema>;
export type AgentHello = z.output<typeof agentHelloSchema>;
export type AgentHeartbeat = z.output<typeof agentHeartbeatSchema>;
export type AgentProgress = z.output<typeof agentProgressSchema>;
