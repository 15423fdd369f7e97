/** What Chromium itself writes when the system does not support its sandbox. */
const SANDBOX_ERRORS = [
  'No usable sandbox!',
  'Failed to move to new namespace',
  'The SUID sandbox helper binary was found, but is not configured correctly',
];

/** Whether a browser that did not start said that the system does not support its sandbox. */
export function isSandboxError(output: string): boolean {
  return SANDBOX_ERRORS.some((known) => output.includes(known));
}
