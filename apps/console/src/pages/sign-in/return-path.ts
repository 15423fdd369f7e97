/** Only pages of the console: an address elsewhere could imitate it. */
export const returnPath = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?!\/|\\)[^\\]*$/.test(value) ? value : undefined;
