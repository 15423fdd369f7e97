import { RpcCallError } from '@model-gateway/client';
import { readTab, writeTab } from '../../preferences/preferences.ts';
import { ModelFailure } from './chat-turn.ts';
import type { Turn } from './use-chat.ts';

/** The last chat of the playground, which a tab keeps for one person. */
interface KeptChat {
  readonly turns: readonly Turn[];
  /** The second model, and what it answered. */
  readonly beside?: string | undefined;
  readonly besideTurns: readonly Turn[];
}

interface KeptError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly isOfModel: boolean;
}

const KEY = 'console-chat';
const CHARS_MAX = 1_000_000;
export const NO_CHAT: KeptChat = { turns: [], besideTurns: [] };

export const keepChat = (userId: string, chat: KeptChat): void =>
  writeTab(KEY, keptText(userId, chat));

export const keptChat = (userId: string): KeptChat => chatOf(userId, readTab(KEY));

/** A chat as text. One that is too long loses its images, then its older half until it fits. */
export function keptText(userId: string, chat: KeptChat, charsMax = CHARS_MAX): string {
  const { turns, beside, besideTurns } = chat;
  const text = JSON.stringify({
    userId,
    turns: turns.map(keptTurn),
    beside,
    besideTurns: besideTurns.map(keptTurn),
  });
  const isEmpty = turns.length + besideTurns.length === 0;
  return text.length <= charsMax || isEmpty ? text : keptText(userId, shorter(chat), charsMax);
}

function shorter({ turns, beside, besideTurns }: KeptChat): KeptChat {
  const hasImages = [...turns, ...besideTurns].some(({ images }) => images.length > 0);
  const less = (all: readonly Turn[]): readonly Turn[] =>
    hasImages ? all.map((turn) => ({ ...turn, images: [] })) : all.slice(Math.ceil(all.length / 2));
  return { turns: less(turns), beside, besideTurns: less(besideTurns) };
}

/** The chat in a text; none where it is of another person, or of another version of this page. */
export function chatOf(userId: string, text: string | null): KeptChat {
  try {
    const kept = JSON.parse(text ?? '{}') as Partial<KeptChat & { readonly userId: string }>;
    if (kept.userId !== userId) return NO_CHAT;
    const { beside, turns = [], besideTurns = [] } = kept;
    return { beside, turns: turns.map(shownTurn), besideTurns: besideTurns.map(shownTurn) };
  } catch {
    return NO_CHAT;
  }
}

function keptTurn({ error, ...turn }: Turn): object {
  if (!(error instanceof RpcCallError)) return turn;
  const { code, message, data } = error;
  const isOfModel = error instanceof ModelFailure;
  return { ...turn, error: { code, message, data, isOfModel } satisfies KeptError };
}

/** A turn that was running has ended with the page, and one without its error says only that it ended. */
function shownTurn({ error, ...turn }: Turn): Turn {
  const { id, question, images, answer, model, toolCalls, state } = turn;
  const isWhole =
    typeof id === 'number' &&
    [question, answer, model].every((text) => typeof text === 'string') &&
    Array.isArray(images) &&
    Array.isArray(toolCalls);
  if (!isWhole) throw new TypeError('not a turn');
  if (error === undefined)
    return state === 'running' || state === 'failed' ? { ...turn, state: 'stopped' } : turn;
  const { code, message, data, isOfModel } = error as KeptError;
  return { ...turn, error: new (isOfModel ? ModelFailure : RpcCallError)(code, message, data) };
}
