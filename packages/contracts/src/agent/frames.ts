import { z } from 'zod';

/** The messages between an agent node and the tunnel: JSON-RPC 2.0 in text frames. */
export const AGENT_METHODS = {
  /** Agent → tunnel, the first message; the response is `agentWelcomeSchema`. */
  hello: 'Agent.Hello',
  /** Agent → tunnel, a notification. */
  heartbeat: 'Agent.Heartbeat',
  /** Agent → tunnel, a notification. */
  progress: 'Agent.Progress',
  /** Tunnel → agent; the response is sent when the model is ready. */
  deploy: 'Agent.Deploy',
  /** Tunnel → agent; the response is sent when the model has stopped. */
  stop: 'Agent.Stop',
  /** Tunnel → agent, a notification: the process stops, so open a new connection and keep this one until it is closed. */
  move: 'Agent.Move',
} as const;

/** Close codes after which the agent must not reconnect. */
export const AGENT_CLOSE_CODES = {
  /** The same agent has opened a new connection. */
  replaced: 4000,
  deregistered: 4001,
} as const;

/** The largest frame, text or binary. */
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

/** A host name or an address, without a port. */
export const nodeHostSchema = z
  .string()
  .regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or an address');

/** One GPU and its current load. */
const agentGpuSchema = z.object({
  name: storable(128),
  memory_total_mb: megabytes.default(0),
  memory_used_mb: megabytes.default(0),
  utilization: percent.default(0),
});

/** A model on a node; it can serve once it is `ready` and has a port. */
const agentModelSchema = z.object({
  model_id: modelId,
  status: storable(16).min(1),
  port: port.nullish().transform((value) => value ?? null),
});

const gpus = z.array(agentGpuSchema).max(GPUS_MAX);
const models = z.array(agentModelSchema).max(MODELS_MAX);

/** The version, GPUs and models of a node that connects. */
export const agentHelloSchema = z.object({
  version: storable(64).min(1),
  /** Where its models can be reached; counts only if an admin allowed it. Otherwise it is the address that it connects from. */
  host: nodeHostSchema.nullish(),
  /** The port of those models that name no port. */
  port: port.nullish(),
  gpus: gpus.default([]),
  gpu_utilization: percent.nullish(),
  models: models.default([]),
  /** The version of the HTTP tunnel that it supports, if any. */
  tunnel: z.int().nullish(),
  /** Whether it supports `Agent.Move`. */
  moves: z.boolean().nullish(),
});

/** The range of the interval between two heartbeats, in seconds. */
export const AGENT_HEARTBEAT_SECS_MIN = 1;
export const AGENT_HEARTBEAT_SECS_MAX = 3_600;

/** The response to a hello. */
export const agentWelcomeSchema = z.object({
  agent_id: z.string(),
  heartbeat_secs: z.number().min(AGENT_HEARTBEAT_SECS_MIN).max(AGENT_HEARTBEAT_SECS_MAX),
});

/** A sign of life, with what has changed. */
export const agentHeartbeatSchema = z.object({
  gpus: gpus.optional(),
  gpu_utilization: percent.nullish(),
  models: models.optional(),
});

/** The progress of a deployment. */
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
