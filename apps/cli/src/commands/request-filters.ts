import type { RpcInput } from '@model-gateway/contracts';
import type { Command } from 'commander';

/** The options that choose requests. */
export interface FilterOptions {
  readonly from?: string;
  readonly to?: string;
  readonly all?: boolean;
  readonly group?: string;
  readonly user?: string;
  readonly key?: string;
  readonly project?: string;
  readonly model?: string;
  readonly upstream?: string;
}

type Filter = Omit<RpcInput<'usage.summary'>, 'group_by'>;

/** Adds the options that the commands about requests have in common. */
export const addRequestFilters = (command: Command): Command =>
  command
    .option('--from <time>', 'from this day or time (UTC)')
    .option('--to <time>', 'up to this day, or before this time (UTC)')
    .option('--all', 'of all users; for admins')
    .option('--group <id>', 'of the keys of a group; for its admins')
    .option('--user <id>', 'only those of a user')
    .option('--key <id>', 'only those of an API key')
    .option('--project <label>', 'only those of a project')
    .option('--model <model>', 'only those of a model')
    .option('--upstream <name>', 'only those of a backend');

/** The options as params. */
export function filterOf(options: FilterOptions): Filter {
  const { from, to, all, group, user, key, project, model, upstream } = options;
  const given: Filter = {
    scope: all === true ? 'all' : group === undefined ? 'self' : 'group',
    from,
    to,
    group_id: group,
    user_id: user,
    key_id: key,
    project,
    model,
    upstream,
  };
  return given;
}
