import { cutBody, KEPT_BODY_BYTES_MAX } from './cut-body.ts';

test('a body is kept as it is up to the limit, and cut between characters beyond it', () => {
  const whole = 'a'.repeat(KEPT_BODY_BYTES_MAX);
  expect(cutBody(whole)).toBe(whole);
  const long = `a${'ü'.repeat(KEPT_BODY_BYTES_MAX)}`;
  const cut = cutBody(long);
  expect(cut).toMatch(/^aü+… \[cut: 131073 bytes\]$/);
  expect(Buffer.byteLength(cut)).toBeLessThan(KEPT_BODY_BYTES_MAX + 40);
});
