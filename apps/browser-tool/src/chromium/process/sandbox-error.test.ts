import { isSandboxError } from './sandbox-error.ts';

test.each([
  '[1:1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox! If you are running on Ubuntu 23.10+',
  'Failed to move to new namespace: PID namespaces supported, but failed: errno = Operation not permitted',
  'FATAL: The SUID sandbox helper binary was found, but is not configured correctly. Rather than run without',
])('the sandbox does not work: %s', (output) => {
  expect(isSandboxError(output)).toBe(true);
});

test.each([
  '/opt/sandbox-tests/chrome: some other failure',
  'the zygote of /srv/namespace/chrome exited',
  '',
])('another failure: %s', (output) => {
  expect(isSandboxError(output)).toBe(false);
});
