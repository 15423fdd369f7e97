import { explainedReason } from './backend-help.ts';

test.each([
  { state: 'Unhealthy', reason: 'connect ECONNREFUSED 127.0.0.1:1', says: 'start the server' },
  { state: 'Unhealthy', reason: 'no answer within 5000 ms', says: 'start the server' },
  {
    state: 'Healthy',
    reason: 'models are not listed: the models listing answered 401',
    says: 'api_key',
  },
  { state: 'Degraded', reason: 'the models listing answered 500', says: 'url of the backend' },
  { state: 'Degraded', reason: 'it has no models to serve', says: 'load a model' },
])('$reason says what to do', ({ state, reason, says }) => {
  expect(explainedReason(state, reason)).toMatch(new RegExp(`^${reason}; .*${says}`));
});

test.each([
  'not probed yet',
  'the upstream answered 401 to a request; check the api_key of the backend',
])('%s stays as it is', (reason) => {
  expect(explainedReason('Unhealthy', reason)).toBe(reason);
});
