// From one machine to a thousand nodes and ten million users.

export const SIZES = [
  {
    label: 'one machine, 1,000 users',
    users: 1_000,
    nodes: 1,
    modelsPerNode: 1,
    nodeShare: 1,
    recorders: 1,
    postgresCores: 1,
  },
  {
    label: '10 nodes, 100,000 users',
    users: 100_000,
    nodes: 10,
    modelsPerNode: 2,
    nodeShare: 0.5,
    recorders: 2,
    postgresCores: 2,
  },
  {
    label: '100 nodes, 1 million users',
    users: 1_000_000,
    nodes: 100,
    modelsPerNode: 4,
    nodeShare: 0.5,
    recorders: 2,
    postgresCores: 4,
  },
  {
    label: '1,000 nodes, 10 million users',
    users: 10_000_000,
    nodes: 1_000,
    modelsPerNode: 4,
    nodeShare: 0.5,
    recorders: 2,
    postgresCores: 8,
  },
];
