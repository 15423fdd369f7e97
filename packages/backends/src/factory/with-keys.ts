import type { Backend } from '@model-gateway/router';

/** One backend of several that differ in their key. Who sends it requests chooses the key. */
export function withKeys(first: Backend, others: readonly Backend[]): Backend {
  const keys = [first, ...others];
  /** Probes begin with it, so that a refused key is not probed again and again. */
  let accepted = first;
  return {
    ...first,
    keys,
    /** A backend is as healthy as the best of its keys. */
    async probe(signal) {
      const result = await accepted.probe(signal);
      if (result.state !== 'Degraded') return result;
      for (const key of keys.filter((one) => one !== accepted)) {
        const next = await key.probe(signal);
        if (next.state !== 'Healthy') continue;
        accepted = key;
        return next;
      }
      return result;
    },
    async close() {
      await Promise.all(keys.map((key) => key.close()));
    },
  };
}
