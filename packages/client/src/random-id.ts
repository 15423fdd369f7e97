const ID_BYTES = 16;

/** 128 random bits as hexadecimal text: the id of a call, or of a session that cannot be guessed. */
export function randomId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
