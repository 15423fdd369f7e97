import { raceAbort } from '@model-gateway/kernel';
import type {
  RealtimeEvent,
  RealtimeLink,
  RealtimeOpening,
  UpstreamFailure,
} from '@model-gateway/router';
import { readEvent } from '../realtime/realtime-event.ts';
import { createSendQueue } from '../realtime/send-queue.ts';
import { aborted } from '../json-rpc/rpc-failures.ts';
import { keyHeader } from '../transport/key-header.ts';
import type { UpstreamTimeouts } from '../transport/upstream-http.ts';
import { openUpstreamSocket, type UpstreamSocket } from '../transport/upstream-socket.ts';

/** The realtime sessions of one upstream. */
export interface ExternalRealtime {
  open(opening: RealtimeOpening, cancel: AbortSignal): Promise<RealtimeLink>;
  /** Ends every session. */
  close(): void;
}

interface ExternalRealtimeOptions {
  /** The result of `upstreamPrefix` for the registered URL. */
  readonly prefix: URL;
  /** The query of the registered URL. */
  readonly search: string;
  readonly apiKey: string | null;
  readonly authHeader?: string | undefined;
  readonly timeouts: UpstreamTimeouts;
}

/** Realtime sessions of the OpenAI API: a WebSocket each, at `{prefix}/realtime?model=`. */
export function createExternalRealtime(options: ExternalRealtimeOptions): ExternalRealtime {
  const { apiKey, timeouts } = options;
  const open = new Set<UpstreamSocket>();

  async function connect({ model, onEvent, onClosed }: RealtimeOpening): Promise<UpstreamSocket> {
    let isOpen = false;
    let gone: UpstreamFailure | undefined;
    const socket = await openUpstreamSocket({
      url: realtimeUrl(options, model),
      headers: keyHeader(options),
      connectTimeoutMs: timeouts.connectMs,
      onText: (bytes) => onEvent(readEvent(bytes, apiKey)),
      onClosed(failure) {
        gone = failure;
        // Before the session is open, only the rejection reports the failure.
        if (isOpen && open.delete(socket)) onClosed(failure);
      },
    });
    if (gone !== undefined) throw gone;
    isOpen = true;
    open.add(socket);
    return socket;
  }

  function leave(socket: UpstreamSocket): void {
    if (open.delete(socket)) socket.leave();
  }

  return {
    async open(opening, cancel) {
      const connecting = connect(opening);
      const socket = await raceAbort(connecting, cancel, aborted).catch((error: unknown) => {
        connecting.then(leave, () => undefined);
        throw error;
      });
      const queue = createSendQueue();
      const send = (event: RealtimeEvent): boolean => {
        const text = JSON.stringify(event);
        return queue.add(text, (onSent) => socket.send(text, onSent));
      };
      if (opening.config !== undefined) send({ type: 'session.update', session: opening.config });
      return { send, close: () => leave(socket) };
    },
    close() {
      for (const socket of open) socket.end('the backend was closed');
    },
  };
}

function realtimeUrl(
  { prefix, search }: Pick<ExternalRealtimeOptions, 'prefix' | 'search'>,
  model: string,
): string {
  const url = new URL(`${prefix.href}/realtime${search}`);
  url.protocol = prefix.protocol === 'https:' ? 'wss:' : 'ws:';
  url.searchParams.set('model', model);
  return url.href;
}
