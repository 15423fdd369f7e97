import { manualClock } from '@model-gateway/kernel';
import { createSystemMonitor } from './system-monitor.ts';

const NOW = Date.UTC(2026, 0, 1);

function setup() {
  const clock = manualClock(NOW);
  const asked: Date[] = [];
  let isUnavailable = false;
  const monitor = createSystemMonitor({
    agents: {
      count({ heartbeatSince }) {
        asked.push(heartbeatSince);
        if (isUnavailable) return Promise.reject(new Error('unavailable'));
        return Promise.resolve({ agentsOnline: asked.length, gpuNodes: 1, modelsDeployed: 2 });
      },
    },
    requests: { read: () => Promise.resolve({ total: 10, perMinute: 3 }) },
    clock,
    agentTimeoutMs: 30_000,
  });
  return {
    clock,
    asked,
    monitor,
    setAway: (unavailable: boolean) => (isUnavailable = unavailable),
  };
}

test('the status puts together what the stores say, and counts the time since the start', async () => {
  const { clock, asked, monitor } = setup();
  clock.advance(90_500);
  expect(await monitor.read()).toEqual({
    agentsOnline: 1,
    gpuNodes: 1,
    modelsDeployed: 2,
    requestsTotal: 10,
    requestsPerMinute: 3,
    uptimeSecs: 90,
  });
  expect(asked).toEqual([new Date(NOW + 60_500)]);
});

test('the stores are read once a second, for any number of calls', async () => {
  const { clock, asked, monitor } = setup();
  await Promise.all(Array.from({ length: 100 }, () => monitor.read()));
  clock.advance(999);
  await monitor.read();
  expect(asked).toHaveLength(1);
  clock.advance(1);
  expect(await monitor.read()).toMatchObject({ agentsOnline: 2, uptimeSecs: 1 });
});

test('a failure is not remembered', async () => {
  const { monitor, setAway } = setup();
  setAway(true);
  await expect(monitor.read()).rejects.toThrow('unavailable');
  setAway(false);
  expect(await monitor.read()).toMatchObject({ agentsOnline: 2 });
});
