import { createRealtimeSession, type RealtimeSession } from '../realtime/realtime-session.ts';
import { asObject, asText } from '@model-gateway/demo-model/answers';
import { RpcMethodError, type RpcCall, type RpcConnection } from '../wire/json-rpc-call.ts';
import type { EngineFault } from './engine-faults.ts';

type Call = RpcCall<EngineFault>;

/** The realtime sessions of an engine. */
export interface EngineRealtime {
  start(this: void, call: Call): unknown;
  event(this: void, call: Call): unknown;
  stop(this: void, call: Call): unknown;
  /** Sessions that are open now. */
  readonly open: number;
  /** Ends every session and notifies the client. */
  endAll(this: void): void;
}

interface OpenSession {
  readonly session: RealtimeSession;
  readonly connection: RpcConnection;
  stop(): void;
}

export function createEngineRealtime(deltaDelayMs: number): EngineRealtime {
  const sessions = new Map<string, OpenSession>();

  function sessionOf({ params }: Call) {
    const found = sessions.get(asText(params.session) ?? '');
    if (found === undefined) throw new RpcMethodError('session not found');
    return found;
  }

  return {
    start({ params, connection, afterAnswer }) {
      const controller = new AbortController();
      const closed = AbortSignal.any([controller.signal, connection.closed]);
      const session = createRealtimeSession({
        model: asText(params.model) ?? '',
        generation: 'beta',
        deltaDelayMs,
        link: {
          send: (event) =>
            connection.notify('Engine.RealtimeEvent', { session: session.id, event }),
          terminate: () => connection.terminate(),
          closed,
        },
      });
      sessions.set(session.id, { session, connection, stop: () => controller.abort() });
      closed.addEventListener('abort', () => sessions.delete(session.id), { once: true });
      afterAnswer(() => {
        session.open();
        if (params.config === undefined) return;
        void session.handle({ type: 'session.update', session: params.config }, []);
      });
      return { session: session.id };
    },
    event(call) {
      const { session } = sessionOf(call);
      // The event is accepted at once; the response may take longer.
      call.afterAnswer(() => void session.handle(asObject(call.params.event), []));
      return { ok: true };
    },
    stop(call) {
      sessionOf(call).stop();
      return { ok: true };
    },
    get open() {
      return sessions.size;
    },
    endAll() {
      for (const [id, open] of sessions) {
        open.connection.notify('Engine.RealtimeStop', { session: id });
        open.stop();
      }
    },
  };
}
