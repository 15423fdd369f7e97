/** Bytes by key, each with an expiry, that all processes share while there is room. What is lost can be made again. */
export interface ByteCache {
  /** Undefined when there is none, it has expired, or it cannot be read. Never rejects. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Replaces what the key had. Never rejects; false when no other process can read it. */
  put(key: string, bytes: Uint8Array, options: ByteCacheOptions): Promise<boolean>;
}

export interface ByteCacheOptions {
  /** Whole milliseconds, at least 1. */
  readonly expiresAfterMs: number;
}
