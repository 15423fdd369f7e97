const SCHEMES: readonly string[] = ['https:', 'http:', 'mailto:'];

/** The address of a link in an answer; undefined where a click on it could run something, or stay in the console. */
export function safeAddress(address: string): string | undefined {
  try {
    const { protocol, href } = new URL(address);
    return SCHEMES.includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}
