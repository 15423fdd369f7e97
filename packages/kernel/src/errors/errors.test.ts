import { runInNewContext } from 'node:vm';
import { AppError } from './app-error.ts';
import { describeError, errorCode } from './errors.ts';

test.each([
  [new Error('plain'), 'plain'],
  [new TypeError(''), 'TypeError'],
  [new AggregateError([new Error('one'), new Error('two')]), 'one; two'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [runInNewContext('new Error("from elsewhere")'), 'from elsewhere'],
])('%p is described as %s', (thrown, text) => {
  expect(describeError(thrown)).toBe(text);
});

test('only the text code of an error is returned', () => {
  expect(errorCode(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED');
  expect(errorCode(Object.assign(new Error('x'), { code: 7 }))).toBeUndefined();
  expect(errorCode({ code: 'ECONNREFUSED' })).toBeUndefined();
});

test('the message of an AppError does not contain its cause', () => {
  const error = new AppError('broken', 'something broke', { cause: new Error('secret detail') });
  expect(error.message).toBe('something broke');
  expect(error.code).toBe('broken');
  expect(describeError(error.cause)).toBe('secret detail');
});
