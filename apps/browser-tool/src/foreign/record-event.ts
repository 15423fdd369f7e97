import type { EngineEvent } from '@model-gateway/browser-ffi';
import type { Captures } from '../capture/captures.ts';

/** Records the requests and WebSockets that an engine reports, by its ids. */
export function createEventRecorder({ network, webSockets }: Captures) {
  const requests = new Map<string, string>();
  const sockets = new Map<string, string>();
  return {
    request(event: Extract<EngineEvent, { readonly type: 'network' }>): void {
      const { url, method, resource: type, request_headers, post_data } = event;
      const id =
        requests.get(event.id) ??
        network.start({ url, method, type, initiator: '', request_headers, post_data });
      if (event.event === 'started') {
        requests.set(event.id, id);
        return;
      }
      requests.delete(event.id);
      const { status, size, response_headers } = event;
      const failed = event.event === 'failed' ? event.error : null;
      network.finish(id, { status, size, response_headers, failed });
    },
    socket(event: Extract<EngineEvent, { readonly type: 'websocket' }>): void {
      const id = sockets.get(event.id) ?? webSockets.open(event.url);
      sockets.set(event.id, id);
      if (event.event === 'opened') webSockets.opened(id);
      if (event.event === 'frame') webSockets.frame(id, event);
      if (event.event === 'failed') webSockets.fail(id, event.error);
      if (event.event === 'closed') webSockets.close(id);
      if (event.event === 'failed' || event.event === 'closed') sockets.delete(event.id);
    },
  };
}
