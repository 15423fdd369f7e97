import type { RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { moment } from '../output/format.ts';
import { table } from '../output/table.ts';

type Node = RpcResult<'agents.list'>[number];

export function addNodesCommand(program: Command, run: Runner): void {
  program
    .command('nodes')
    .summary('list the GPU nodes')
    .description('List the GPU nodes and what runs on them. For admins of the platform.')
    .addHelpText('after', '\nExample:\n  gateway nodes --json')
    .action(run(listNodes));
}

async function listNodes({ service }: CommandContext): Promise<Answer> {
  const nodes = await service.list('agents.list', {});
  return {
    json: { nodes },
    text: nodes.length === 0 ? '' : nodeTable(nodes),
    ...(nodes.length === 0 ? { note: 'No GPU nodes. docs/gpu-nodes.md says how to add one.' } : {}),
  };
}

function nodeTable(nodes: readonly Node[]): string {
  return table(nodes, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'STATUS', value: ({ status }) => status },
    { title: 'HOST', value: ({ host }) => host ?? '-' },
    { title: 'GPUS', value: ({ gpus }) => gpus.map((gpu) => gpu.name).join(', ') || '-' },
    {
      title: 'LOAD',
      isNumber: true,
      value: ({ gpu_utilization: load }) => (load === null ? '-' : `${Math.round(load)} %`),
    },
    {
      title: 'MODELS',
      value: ({ models }) =>
        models.map(({ model_id, status }) => `${model_id} (${status})`).join(', ') || '-',
    },
    { title: 'LAST SEEN', value: ({ last_heartbeat_at }) => moment(last_heartbeat_at) },
    { title: 'ID', value: ({ id }) => id },
  ]);
}
