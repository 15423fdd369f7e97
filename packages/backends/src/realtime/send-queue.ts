/** Counts the frames that wait for an upstream in one realtime session. */
export interface SendQueue {
  /** Sends a frame; false when too many are waiting and it was dropped. */
  add(text: string, send: (onSent: () => void) => void): boolean;
}

const QUEUED_EVENTS_MAX = 1_000;
const QUEUED_BYTES_MAX = 16 * 1024 * 1024;

export function createSendQueue(): SendQueue {
  let events = 0;
  let bytes = 0;
  return {
    add(text, send) {
      const size = Buffer.byteLength(text);
      if (events >= QUEUED_EVENTS_MAX || bytes + size > QUEUED_BYTES_MAX) return false;
      events += 1;
      bytes += size;
      send(() => {
        events -= 1;
        bytes -= size;
      });
      return true;
    },
  };
}
