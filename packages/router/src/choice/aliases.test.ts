import { matchModel } from './aliases.ts';

test.each([
  { requested: 'llama3', listed: ['llama3'], served: 'llama3' },
  { requested: 'llama3', listed: ['llama3:latest'], served: 'llama3:latest' },
  { requested: 'llama3', listed: ['llama3:latest', 'llama3'], served: 'llama3' },
  { requested: 'llama3:8b', listed: ['llama3:latest'], served: undefined },
  { requested: 'llama3:8b', listed: ['llama3:8b'], served: 'llama3:8b' },
  { requested: 'llama3:latest', listed: ['llama3'], served: undefined },
  { requested: 'llama', listed: ['llama3'], served: undefined },
])('$requested among $listed is served as $served', ({ requested, listed, served }) => {
  expect(matchModel(requested, new Set(listed))).toBe(served);
});
