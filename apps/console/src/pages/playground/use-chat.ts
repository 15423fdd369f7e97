import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { runTurn, type ChatEnd, type ChatMessage } from './chat-turn.ts';

/** One question and its answer. */
export interface Turn {
  readonly id: number;
  readonly question: string;
  readonly answer: string;
  readonly model: string;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly error?: unknown;
  readonly end?: ChatEnd;
}

export interface ChatSettings {
  readonly model: string;
  readonly system: string;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
}

/** The messages of the turns so far, as the model gets them. */
export function messagesOf(
  system: string,
  turns: readonly Pick<Turn, 'question' | 'answer'>[],
  question: string,
): readonly ChatMessage[] {
  return [
    ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
    ...turns.flatMap((turn) => [
      { role: 'user' as const, content: turn.question },
      { role: 'assistant' as const, content: turn.answer },
    ]),
    { role: 'user', content: question },
  ];
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
    async (question: string, earlier: readonly Turn[], settings: ChatSettings) => {
      running.current?.abort();
      const stopping = new AbortController();
      running.current = stopping;
      const id = nextId.current;
      nextId.current += 1;
      const { model, system, temperature, maxTokens } = settings;
      setTurns([...earlier, { id, question, answer: '', model, state: 'running' }]);
      try {
        const end = await runTurn(
          api,
          {
            model,
            messages: messagesOf(system, earlier, question).map((message) => ({ ...message })),
            ...(temperature === undefined ? {} : { temperature }),
            ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
          },
          {
            signal: stopping.signal,
            onToken: (token) => update(id, (turn) => ({ ...turn, answer: turn.answer + token })),
          },
        );
        update(id, (turn) => ({ ...turn, state: 'done', end }));
      } catch (error) {
        const isStopped = stopping.signal.aborted;
        update(id, (turn) =>
          isStopped ? { ...turn, state: 'stopped' } : { ...turn, state: 'failed', error },
        );
      }
      await queries.invalidateQueries({ queryKey: ['usage.list'] });
    },
    [api, queries, update],
  );

  return {
    turns,
    isRunning: turns.at(-1)?.state === 'running',
    ask,
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort();
      setTurns([]);
    },
  };
}
