import { randomUUID } from 'node:crypto';
import {
  asList,
  asNumber,
  asObject,
  asText,
  type JsonObject,
} from '@model-gateway/demo-model/answers';
import { createChanges } from '../recording/changes.ts';
import { createFaultPlan, type FaultPlan } from '../faults/fault-plan.ts';
import { extend } from '../wire/extend.ts';
import type { RpcFault } from '../faults/rpc-faults.ts';
import { RpcMethodError, type RpcMethod } from '../wire/json-rpc-call.ts';
import {
  startJsonRpcServer,
  type RpcServerOptions,
  type RunningRpcServer,
} from '../wire/json-rpc-server.ts';

/** One stored text about a user. */
export interface MemoryNode {
  readonly node_id: string;
  readonly user_id: string;
  readonly text: string;
}

/** The methods of a memory service. */
export type MemoryMethod = 'Memory.Recall' | 'Memory.Write' | 'Memory.Delete';

/** A running memory service. */
export interface RunningMemoryService extends RunningRpcServer {
  readonly faults: FaultPlan<RpcFault, MemoryMethod>;
  /** All stored texts, oldest first. */
  readonly nodes: readonly MemoryNode[];
  /** Stores a text about a user. */
  remember(userId: string, text: string): MemoryNode;
}

const LIMIT = 5;
const NODES_MAX = 10_000;
const INVALID_PARAMS = -32_602;

/** Starts a memory service: recall by common words, write, delete; separate for each user. */
export async function startMemoryService(
  options: RpcServerOptions = {},
): Promise<RunningMemoryService> {
  const faults = createFaultPlan<RpcFault, MemoryMethod>([
    'Memory.Recall',
    'Memory.Write',
    'Memory.Delete',
  ]);
  const nodes = new Map<string, MemoryNode>();

  function remember(userId: string, text: string): MemoryNode {
    if (nodes.size >= NODES_MAX) throw new RpcMethodError('memory is full');
    const node = { node_id: randomUUID(), user_id: userId, text };
    nodes.set(node.node_id, node);
    return node;
  }

  const methods: Record<MemoryMethod, RpcMethod<RpcFault>> = {
    'Memory.Recall': ({ params }) => {
      const own = [...nodes.values()].filter(
        (node) => node.user_id === required(params, 'user_id'),
      );
      return { nodes: closest(own, required(params, 'query'), asNumber(params.limit) ?? LIMIT) };
    },
    'Memory.Write': ({ params }) => {
      const userId = required(params, 'user_id');
      const texts = asList(params.messages).flatMap(
        (message) => asText(asObject(message).content) ?? [],
      );
      return { node_ids: texts.map((text) => remember(userId, text).node_id) };
    },
    'Memory.Delete': ({ params }) => {
      const nodeId = required(params, 'node_id');
      const owned = nodes.get(nodeId)?.user_id === required(params, 'user_id');
      return { deleted: owned && nodes.delete(nodeId) };
    },
  };

  const server = await startJsonRpcServer(options, { methods, faults, changes: createChanges() });
  return extend(server, {
    faults,
    remember,
    get nodes() {
      return [...nodes.values()];
    },
  });
}

function required(params: JsonObject, name: string): string {
  const value = asText(params[name]);
  if (value === undefined) throw new RpcMethodError(`${name} must be a string`, INVALID_PARAMS);
  return value;
}

const wordsOf = (text: string): readonly string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The nodes that have words in common with the query; the score is the share of its words found. */
function closest(nodes: readonly MemoryNode[], query: string, limit: number) {
  const words = new Set(wordsOf(query));
  return nodes
    .map(({ node_id, text }) => {
      const found = new Set(wordsOf(text).filter((word) => words.has(word)));
      return { node_id, text, score: words.size === 0 ? 0 : found.size / words.size };
    })
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, limit);
}
