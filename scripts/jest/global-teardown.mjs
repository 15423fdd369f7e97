// Stops what the set-up started.
import { rm } from 'node:fs/promises';

export default async function globalTeardown() {
  const { dataDir, stores } = globalThis.testStores ?? { stores: [] };
  for (const store of stores.toReversed()) await store.stop();
  if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
}
