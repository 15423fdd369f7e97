import { randomId } from '@model-gateway/client';
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
  /** The reference in the request log; undefined for what was stored earlier. */
  readonly refId?: string;
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

const NO_TURNS: readonly Turn[] = [];

/** A chat in this page: asks, streams, stops. */
export function useChat(first = NO_TURNS) {
  const api = useApi();
  const queries = useQueryClient();
  const [turns, setTurns] = useState(first);
  const running = useRef<AbortController>(undefined);
  const nextId = useRef(1 + Math.max(0, ...first.map(({ id }) => id)));
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
      const refId = `console-${randomId()}`;
      const turn = { id, question: text, images, answer: '', model, refId, toolCalls: [] };
      setTurns([...earlier, { ...turn, state: 'running' }]);
      try {
        const request = { ...requestOf(settings, earlier, text, images), ref_id: refId };
        const end = await runTurn(api, request, {
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
