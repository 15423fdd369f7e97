import type { RpcResult } from '@model-gateway/contracts';
import { moment } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { checked, type CheckResult } from './check.ts';

type Node = Pick<RpcResult<'agents.list'>[number], 'name' | 'status' | 'last_heartbeat_at'>;

const NAMED_MAX = 10;

/** The GPU nodes that are not connected. */
export function nodesCheck(nodes: readonly Node[]): CheckResult {
  if (nodes.length === 0) return checked('nodes', 'ok', 'no GPU node is registered');
  const away = nodes.filter(({ status }) => status === 'offline');
  const sum = `${nodes.length - away.length} of ${nodes.length} GPU nodes are online`;
  if (away.length === 0) return checked('nodes', 'ok', sum);
  const named = away
    .slice(0, NAMED_MAX)
    .map(({ name, last_heartbeat_at: seen }) => `${oneLine(name)} (${lastSeen(seen)})`);
  const more = away.length > NAMED_MAX ? [`${away.length - NAMED_MAX} more`] : [];
  return checked(
    'nodes',
    'warning',
    `${sum}; offline: ${[...named, ...more].join(', ')}`,
    'Start gpu-agent on them, or remove nodes that do not come back. docs/gpu-nodes.md has more.',
  );
}

const lastSeen = (at: string | null): string =>
  at === null ? 'never connected' : `last seen ${moment(at)}`;
