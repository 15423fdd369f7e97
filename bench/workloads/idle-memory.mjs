import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, programOf, pssMb, rssMb } from '../processes.mjs';
import { startStandalone } from '../service.mjs';

const APPS = ['gateway', 'rpc', 'agent-tunnel', 'video-worker'];
const RSS_MB_MAX = 200;

/** The memory of an idle server app, and of all apps in one process with its Postgres. */
export const idleMemory = {
  name: 'idle-memory',
  title: 'memory of a server app with nothing to do',
  columns: [{ key: 'rssMb', label: 'RSS MB', digits: 0 }],
  async run(run) {
    const children = [];
    try {
      for (const app of APPS)
        children.push(await run.service.startApp(app, { on: run.cores?.load }));
      const standalone = await startAlone(run);
      children.push(standalone);
      run.progress(`idle-memory: waiting ${run.options.size.idleMs / 1000} s`);
      await sleep(run.options.size.idleMs, undefined, { signal: run.signal });
      const rows = [
        ...children
          .filter((child) => child !== standalone)
          .map(({ name, pid }) => ({ name, label: name, rssMb: rssMb(pid) })),
        {
          name: 'standalone',
          label: 'all in one process, with its Postgres',
          rssMb: withPostgresMb(standalone.pid),
        },
      ];
      return {
        rows,
        goals: rows.map(({ label, rssMb: measured }) => ({
          what: `idle memory of ${label}`,
          atMost: RSS_MB_MAX,
          unit: 'MB',
          measured,
        })),
      };
    } finally {
      await Promise.all(children.map((child) => child.stop()));
    }
  },
};

async function startAlone({ processes, options, cores, upstream, ...run }) {
  const folder = join(run.folder, 'idle');
  await mkdir(folder, { mode: 0o711 });
  return startStandalone({
    processes,
    folder,
    options,
    cores: cores?.load,
    upstreamPort: upstream.port,
  });
}

/**
 * The whole process, and the processes of Postgres with what they share counted once. A Redis that it has started is not counted.
 */
function withPostgresMb(pid) {
  const postgres = descendantsOf(pid).filter((each) => programOf(each).startsWith('postgres'));
  const each = [rssMb(pid), ...postgres.map(pssMb)].filter((value) => value !== undefined);
  return each.length <= 1 ? undefined : each.reduce((sum, value) => sum + value, 0);
}
