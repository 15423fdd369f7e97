import { rpcMethods } from '../methods.ts';
import { email } from './records.ts';

// Lower-casing by Unicode rules makes a `k` of the first two, and the other two stay what they are.
const LOOKALIKES = ['\u212Aevin@example.com', 'kevin@example.\u212Aim', '\u017Fam@example.com'];

test('an address is trimmed and lower-cased', () => {
  expect(email.parse(' Kevin@Example.com ')).toBe('kevin@example.com');
});

test.each(LOOKALIKES)('%j is no address, whatever it is in lower case', (address) => {
  expect(email.safeParse(address).error?.issues.map(({ message }) => message)).toContain(
    'must have ASCII characters only',
  );
});

test.each(LOOKALIKES)('a sign-in as %j is one of an unknown account', (address) => {
  const { params } = rpcMethods['auth.login'];
  expect(params.parse({ email: address, password: 'x' }).email).toBe(address);
  expect(params.parse({ email: 'Kevin@example.com', password: 'x' }).email).toBe(
    'kevin@example.com',
  );
});
