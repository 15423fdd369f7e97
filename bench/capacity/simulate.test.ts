import { HABITS, simulateDay, usersMax } from './simulate.mjs';
import { SIZES } from './sizes.mjs';

const COSTS = {
  redis: { requestUs: 60, userBytes: 700, eventBytes: 900 },
  rowBytes: 900,
};
const SIZE = {
  users: 1_000_000,
  nodes: 100,
  modelsPerNode: 4,
  nodeShare: 0.5,
  recorders: 1,
  postgresCores: 2,
};

test('a day has the requests of its users, and as many rows', () => {
  const { requests, rowBytesPerDay } = simulateDay(SIZE, COSTS);
  const expected = SIZE.users * HABITS.activeShare * HABITS.requestsPerActiveUser;
  expect(requests / expected).toBeCloseTo(1, 2);
  expect(rowBytesPerDay).toBe(requests * COSTS.rowBytes);
});

test('what comes while Postgres is away waits, and is recorded after it', () => {
  const { waitingAfterOutage, peakRequests, caughtUpSecs } = simulateDay(SIZE, COSTS);
  expect(waitingAfterOutage).toBeLessThan(peakRequests * HABITS.postgresAwaySecs);
  expect(waitingAfterOutage).toBeGreaterThan(peakRequests * HABITS.postgresAwaySecs * 0.7);
  expect(caughtUpSecs).toBeGreaterThan(0);
  expect(caughtUpSecs).toBeLessThan(HABITS.postgresAwaySecs);
});

test('an installation that gets more than it can record never catches up', () => {
  const busy = { ...HABITS, requestsPerActiveUser: 10_000 };
  expect(simulateDay(SIZE, COSTS, busy).caughtUpSecs).toBe(Infinity);
});

test('gateways grow with the users, and the first limit does not depend on the size', () => {
  const days = SIZES.map((size) => simulateDay(size, COSTS));
  const gateways = days.map((day) => day.gateways);
  expect(gateways).toEqual(gateways.toSorted((one, other) => one - other));
  for (const size of SIZES) expect(usersMax(size, COSTS)).toMatchObject({ part: 'postgresDisk' });
});

test('more nodes make each choice of a backend cost more', () => {
  const crowded = { ...SIZE, nodes: 10_000 };
  expect(simulateDay(crowded, COSTS).gateways).toBeGreaterThan(simulateDay(SIZE, COSTS).gateways);
});
