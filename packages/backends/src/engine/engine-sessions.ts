import type { RealtimeOpening, UpstreamFailure } from '@model-gateway/router';
import { eventOf } from '../realtime/realtime-event.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';
import { readResult, realtimeEventSchema, realtimeStartedSchema } from './engine-frames.ts';

/** The callbacks of a session. */
type Listener = Pick<RealtimeOpening, 'onEvent' | 'onClosed'>;

/** The realtime sessions of one connection to an engine. */
export interface EngineSessions {
  add(session: string, listener: Listener): void;
  /** False when it does not exist any more. */
  remove(session: string): boolean;
  /** Delivers an event of the engine; events of a removed session are dropped. */
  onNotification(method: string, params: unknown): void;
  failAll(error: UpstreamFailure): void;
}

const readEvent = readResult('Engine.RealtimeEvent', realtimeEventSchema);
const readStop = readResult('Engine.RealtimeStop', realtimeStartedSchema);

export function createEngineSessions(secret: string | null): EngineSessions {
  const listeners = new Map<string, Listener>();

  function end(session: string, why: UpstreamFailure): void {
    const listener = listeners.get(session);
    listeners.delete(session);
    listener?.onClosed(why);
  }

  return {
    add: (session, listener) => void listeners.set(session, listener),
    remove: (session) => listeners.delete(session),
    onNotification(method, params) {
      if (method === 'Engine.RealtimeEvent') {
        const { session, event } = readEvent(params);
        listeners.get(session)?.onEvent(eventOf(event, secret));
      } else if (method === 'Engine.RealtimeStop') {
        end(readStop(params).session, upstreamFailed('the engine ended the session'));
      }
    },
    failAll(error) {
      for (const session of listeners.keys()) end(session, error);
    },
  };
}
