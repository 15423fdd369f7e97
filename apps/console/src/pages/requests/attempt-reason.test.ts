import { en } from '../../texts/en.ts';
import { textOfReason } from './attempt-reason.ts';

test('why a backend was skipped is said in words', () => {
  const text = textOfReason('circuit_open');
  expect(text === undefined ? undefined : en[text]).toBe('Paused after failures');
});

test.each(['5xx', 'toString'])('the reason %s is shown as it is', (reason) => {
  expect(textOfReason(reason)).toBeUndefined();
});
