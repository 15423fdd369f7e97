import { useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { openSession, type RealtimeSession } from './open-session.ts';
import { asked, EMPTY, withEvent } from './transcript.ts';

interface StartOptions {
  readonly model: string;
  readonly rate: number;
  readonly config: Readonly<Record<string, unknown>>;
}

/** A conversation in speech: opened, talked in, and closed when the page is left. */
export function useRealtime() {
  const api = useApi();
  const session = useRef<RealtimeSession>(undefined);
  const [state, setState] = useState<'closed' | 'opening' | 'open' | 'listening'>('closed');
  const [transcript, setTranscript] = useState(EMPTY);
  const [error, setError] = useState<unknown>();
  useEffect(() => () => session.current?.close(), []);

  async function start(options: StartOptions): Promise<void> {
    setState('opening');
    setError(undefined);
    setTranscript(EMPTY);
    try {
      session.current = await openSession(api, {
        ...options,
        onEvent: (event) => setTranscript((before) => withEvent(before, event, performance.now())),
        onEnd: (reason) => {
          session.current = undefined;
          setState('closed');
          setError(reason);
        },
      });
      setState('open');
    } catch (reason) {
      setState('closed');
      setError(reason);
    }
  }

  return {
    state,
    transcript,
    error,
    isAnswering: transcript.said.at(-1)?.state === 'running',
    start,
    listen() {
      session.current?.listen();
      setState('listening');
    },
    ask() {
      session.current?.ask();
      setTranscript((before) => asked(before, performance.now()));
      setState('open');
    },
    interrupt: () => session.current?.interrupt(),
    close: () => session.current?.close(),
  };
}
