import { nodeProblem } from './start-problems.mjs';

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('Node %s can run the service', (version) => {
  expect(nodeProblem(version)).toBeUndefined();
});

test.each(['20.18.3', '18.20.8', '14.0.0'])('Node %s is told to be too old', (version) => {
  expect(nodeProblem(version)).toBe(
    `Node 20.19 or newer is required, this is ${version}; install a newer one from nodejs.org or with your package manager`,
  );
});
