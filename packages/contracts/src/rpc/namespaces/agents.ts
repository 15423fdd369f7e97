import { z } from 'zod';
import { nodeHostSchema } from '../../agent/frames.ts';
import { method } from '../method.ts';
import { label, listLimit, modelId, record, text, timestamp } from './records.ts';

const HOSTS_MAX = 16;

/** What a model on a node can do: the server there speaks the API of the clients. */
const agentCapability = z.enum([
  'chat',
  'embeddings',
  'completions',
  'rerank',
  'moderations',
  'images',
  'speech',
  'transcription',
]);

const agent = record('Agent', {
  id: z.uuid(),
  name: z.string(),
  host: z.string().nullable(),
  hosts: z.array(z.string()).meta({ description: 'the hosts that the node may name as its own' }),
  version: z.string(),
  status: z.enum(['online', 'offline']),
  gpus: z.array(
    z.object({
      name: z.string(),
      memory_total_mb: z.number(),
      memory_used_mb: z.number(),
      utilization: z.number(),
    }),
  ),
  gpu_utilization: z.number().nullable(),
  models: z
    .array(z.object({ model_id: z.string(), status: z.string(), port: z.int().nullable() }))
    .meta({
      description:
        'what the node reports; the status is `ignored` for a model that was not deployed on it',
    }),
  created_at: timestamp,
  connected_at: timestamp.nullable(),
  last_heartbeat_at: timestamp.nullable(),
});

const oneAgent = z.object({ agent_id: z.uuid() });

export const agentsMethods = {
  'agents.list': method({
    auth: 'admin',
    summary: 'The registered GPU nodes by name, at most 1,000 at a time.',
    params: z.object({
      after: z.uuid().nullish().describe('only nodes after the one with this id'),
      limit: listLimit,
    }),
    result: z.array(agent),
  }),
  'agents.register': method({
    auth: 'admin',
    summary: 'Register a GPU node; its token is shown only once.',
    params: z.object({
      machine_name: label,
      version: text(64).min(1),
      hosts: z.array(nodeHostSchema).max(HOSTS_MAX).optional().meta({
        description:
          'hosts that the node may name as its own (`--host`); otherwise gateways call it only at the address that it connects from',
      }),
    }),
    result: z.object({ agent_id: z.uuid(), token: z.string() }),
    hasSecretResult: true,
  }),
  'agents.deregister': method({
    auth: 'admin',
    summary: 'Remove a GPU node and close its connection.',
    params: oneAgent,
    result: z.object({ ok: z.literal(true) }),
  }),
  'agents.status': method({
    auth: 'admin',
    summary: 'The current state of a GPU node.',
    params: oneAgent,
    result: agent.extend({ online: z.boolean() }),
  }),
  'agents.deploy': method({
    auth: 'admin',
    summary: 'Deploy a model on a GPU node; without agent_id, on the least loaded one.',
    params: z.object({
      model_id: modelId,
      agent_id: z.union([z.uuid(), z.literal('')]).optional(),
      capabilities: z
        .array(agentCapability)
        .min(1)
        .max(agentCapability.options.length)
        .optional()
        .meta({
          description:
            'what the model can do wherever it is served; otherwise what was declared before, or else chat and embeddings',
        }),
    }),
    result: z.object({ ok: z.literal(true), stream_id: z.string() }),
  }),
  'agents.stop': method({
    auth: 'admin',
    summary: 'Stop a model on a GPU node.',
    params: oneAgent.extend({ model_id: modelId }),
    result: z.object({ ok: z.literal(true), stream_id: z.null() }),
  }),
};
