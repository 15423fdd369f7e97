import { moveTo } from '../cores.mjs';
import { comparison, ratio, requestRounds, requestValues, rowOf } from './rounds.mjs';

const CONNECTIONS = 64;
const NAMES = ['bare', 'bare-two', 'gateway', 'gateway-two'];

/** The gain of a second process when everything, including the load generator, shares the same two cores. */
export const twoProcesses = {
  name: 'two-processes',
  title: `one process and two, ${CONNECTIONS} connections, everything on the same two cores`,
  columns: [
    { key: 'perSecond', label: 'requests/s', digits: 0 },
    { key: 'versusOne', label: '× one process', digits: 2 },
    { key: 'p99Ms', label: 'p99 ms', digits: 2 },
    { key: 'errors', label: 'errors', digits: 0 },
  ],
  async run(run) {
    const others = [run.upstream.pid, run.service.recorder.pid, ...run.service.storePids()];
    await move(run, 'both', others);
    const measured = await requestRounds(run, {
      names: NAMES,
      workload: 'two-processes',
      connections: CONNECTIONS,
      cores: run.cores?.both,
      prepare: ({ pids }) => move(run, 'both', pids),
    });
    await move(run, 'load', others);
    const rows = withVersusOne(measured.map((candidate) => rowOf(candidate, requestValues)));
    return {
      rows,
      goals: [
        comparison({
          rows,
          what: 'two processes against one',
          atLeast: 1.4,
          of: 'gateway-two',
          to: 'gateway',
          key: 'perSecond',
        }),
      ],
    };
  },
};

async function move({ cores }, where, pids) {
  if (cores === undefined) return;
  for (const pid of pids) await moveTo(cores[where], pid);
}

const withVersusOne = (rows) =>
  rows.map((row) =>
    row.name.endsWith('-two')
      ? { ...row, versusOne: ratio(rows, row.name, row.name.replace('-two', ''), 'perSecond') }
      : row,
  );
