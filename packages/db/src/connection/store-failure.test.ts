import { ServiceError } from '@model-gateway/contracts';
import { DatabaseError } from 'pg';
import { isFaultOfValues, isPassing } from './store-failure.ts';

const ofPostgres = (code: string): DatabaseError =>
  Object.assign(new DatabaseError('failed', 6, 'error'), { code });

const PASSING = ['08006', '25006', '25P03', '28P01', '3D000', '40001', '40P01'];
const BUSY = ['53300', '55P03', '57014', '57P01', '58030'];

test.each([...PASSING, ...BUSY])('%s passes, and is no fault of the values', (code) => {
  expect(isPassing(ofPostgres(code))).toBe(true);
  expect(isFaultOfValues(ofPostgres(code))).toBe(false);
});

test.each(['22008', '23514', '54000'])('%s is a fault of the values, and stays', (code) => {
  expect(isPassing(ofPostgres(code))).toBe(false);
  expect(isFaultOfValues(ofPostgres(code))).toBe(true);
});

test.each([ofPostgres('42P01'), ofPostgres('XX000'), new TypeError('x'), new RangeError('x')])(
  '%s is neither',
  (error) => {
    expect(isPassing(error)).toBe(false);
    expect(isFaultOfValues(error)).toBe(false);
  },
);

test('a database that cannot be reached passes', () => {
  expect(isPassing(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe(true);
  expect(isPassing(new Error('Query read timeout'))).toBe(true);
  expect(isPassing(new ServiceError('store_unavailable', 'away'))).toBe(true);
  expect(isPassing(new ServiceError('not_found', 'x'))).toBe(false);
});
