import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Gives back what only the start needed, some 30 MB. V8 does that by itself after a while of quiet, or not at all,
 * depending on its version; and the one way to ask for it without flags is the inspector, which needs no port for this. It
 * holds the process for about a tenth of a second, so it belongs before anybody can call. Rejects where a Node has no
 * inspector or forbids it.
 */
export async function returnStartMemory(): Promise<void> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  // A session that is closed from within its own answer counts as open for ever, and Node would wait for it at the end.
  await nextTurn();
  session.disconnect();
}
