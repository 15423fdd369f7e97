import { byLoad, isOnline, onlineSince, type AgentNode } from './agent-node.ts';

const node = (name: string, gpuUtilization: number | null, models = 0): AgentNode => ({
  id: name,
  name,
  host: null,
  hosts: [],
  version: '1',
  gpus: [],
  gpuUtilization,
  models: Array.from({ length: models }, (_, index) => ({
    modelId: `m${index}`,
    status: 'ready',
    port: 1,
  })),
  createdAt: new Date(0),
  connectedAt: null,
  lastHeartbeatAt: null,
  connectionId: null,
});

test('the least loaded node has the lowest GPU utilization, then the fewest models, then the first name', () => {
  const nodes = [
    node('no-telemetry', null),
    node('b-idle', 0, 1),
    node('busy', 90),
    node('c-idle', 0),
    node('a-idle', 0, 1),
    node('also-without', null, 2),
  ];
  expect(byLoad(nodes).map(({ name }) => name)).toEqual([
    'c-idle',
    'a-idle',
    'b-idle',
    'busy',
    'no-telemetry',
    'also-without',
  ]);
});

test.each([
  ['has a connection and was heard of just in time', 'c', 10_000, true],
  ['was not heard of in time', 'c', 9_999, false],
  ['was never heard of', 'c', null, false],
  ['has no connection', null, 40_000, false],
])('a node that %s', (_why, connectionId, heartbeatAt, expected) => {
  const since = onlineSince(40_000, 30_000);
  const lastHeartbeatAt = heartbeatAt === null ? null : new Date(heartbeatAt);
  expect(isOnline({ connectionId, lastHeartbeatAt }, since)).toBe(expected);
});
