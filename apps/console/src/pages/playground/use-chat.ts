import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { requestOf, type ChatSettings, type EarlierTurn } from './chat-settings.ts';
import { runTurn, type ChatEnd } from './chat-turn.ts';
import { addToolCalls, type ToolCall } from './tool-calls.ts';

/** One question and its answer. */
export interface Turn extends EarlierTurn {
  readonly id: number;
  readonly model: string;
  readonly toolCalls: readonly ToolCall[];
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly error?: unknown;
  readonly end?: ChatEnd;
}

/** A question of a person. */
export interface Question {
  readonly text: string;
  /** Data URLs. */
  readonly images: readonly string[];
}

/** A chat in this page: asks, streams, stops. */
export function useChat() {
  const api = useApi();
  const queries = useQueryClient();
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const running = useRef<AbortController>(undefined);
  const nextId = useRef(1);
  useEffect(() => () => running.current?.abort(), []);

  const update = useCallback((id: number, change: (turn: Turn) => Turn) => {
    setTurns((all) => all.map((turn) => (turn.id === id ? change(turn) : turn)));
  }, []);

  const ask = useCallback(
    async ({ text, images }: Question, earlier: readonly Turn[], settings: ChatSettings) => {
      running.current?.abort();
      const stopping = new AbortController();
      running.current = stopping;
      const id = nextId.current;
      nextId.current += 1;
      const { model } = settings;
      const turn = { id, question: text, images, answer: '', model, toolCalls: [] };
      setTurns([...earlier, { ...turn, state: 'running' }]);
      try {
        const end = await runTurn(api, requestOf(settings, earlier, text, images), {
          signal: stopping.signal,
          onToken: (token) => update(id, (now) => ({ ...now, answer: now.answer + token })),
          onToolCalls: (parts) =>
            update(id, (now) => ({ ...now, toolCalls: addToolCalls(now.toolCalls, parts) })),
        });
        update(id, (now) => ({ ...now, state: 'done', end }));
      } catch (error) {
        const isStopped = stopping.signal.aborted;
        update(id, (now) =>
          isStopped ? { ...now, state: 'stopped' } : { ...now, state: 'failed', error },
        );
      }
      await queries.invalidateQueries({ queryKey: ['usage.list'] });
      if (settings.conversationId !== undefined)
        await queries.invalidateQueries({ queryKey: ['conversations.list'] });
    },
    [api, queries, update],
  );

  /** Shows turns that were stored earlier. */
  const show = useCallback((stored: readonly (EarlierTurn & { readonly model: string })[]) => {
    running.current?.abort();
    setTurns(
      stored.map((turn) => {
        const id = nextId.current;
        nextId.current += 1;
        return { ...turn, id, toolCalls: [], state: 'done' };
      }),
    );
  }, []);

  return {
    turns,
    isRunning: turns.at(-1)?.state === 'running',
    ask,
    show,
    stop: () => running.current?.abort(),
    clear: () => show([]),
  };
}
