import { setTimeout as sleep } from 'node:timers/promises';
import { rssMb } from '../processes.mjs';

const APPS = ['gateway', 'rpc', 'agent-tunnel', 'video-worker'];
const RSS_MB_MAX = 200;

/** The memory of an idle server app. */
export const idleMemory = {
  name: 'idle-memory',
  title: 'memory of a server app with nothing to do',
  columns: [{ key: 'rssMb', label: 'RSS MB', digits: 0 }],
  async run(run) {
    const children = [];
    try {
      for (const app of APPS)
        children.push(await run.service.startApp(app, { on: run.cores?.load }));
      run.progress(`idle-memory: waiting ${run.options.size.idleMs / 1000} s`);
      await sleep(run.options.size.idleMs, undefined, { signal: run.signal });
      const rows = children.map(({ name, pid }) => ({ name, label: name, rssMb: rssMb(pid) }));
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
