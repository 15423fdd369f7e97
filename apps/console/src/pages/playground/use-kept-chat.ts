import { useEffect, useRef, useState } from 'react';
import { useApi, useUser } from '../../api/use-api.ts';
import { keepChat, keptChat, NO_CHAT } from './kept-chat.ts';
import { useChat } from './use-chat.ts';

/** What the address says of the chat. */
interface ChatAddress {
  readonly conversation?: string;
  readonly beside?: string;
}

/** The chat of this tab, also after the page was left or loaded again. One that the server keeps is not kept here. */
export function useKeptChat({ conversation, beside: wanted }: ChatAddress) {
  const { session } = useApi();
  const { id: userId } = useUser();
  const [owner] = useState(userId);
  const [kept] = useState(() => (conversation === undefined ? keptChat(owner) : NO_CHAT));
  const chat = useChat(kept.turns);
  const other = useChat(kept.besideTurns);
  const [chosen, setBeside] = useState(kept.beside);
  const beside = wanted ?? chosen;
  const latest = useRef(kept);
  useEffect(() => {
    const shown = { turns: chat.turns, beside, besideTurns: other.turns };
    latest.current = conversation === undefined ? shown : NO_CHAT;
  });
  useEffect(() => {
    const keep = (): void => {
      const state = session.getState();
      // The page is also left because its user signed out, or because another one signed in.
      if (state.status === 'signed-in' && state.user.id === owner) keepChat(owner, latest.current);
    };
    window.addEventListener('pagehide', keep);
    // A phone ends pages that are not seen.
    document.addEventListener('visibilitychange', keep);
    return () => {
      window.removeEventListener('pagehide', keep);
      document.removeEventListener('visibilitychange', keep);
      keep();
    };
  }, [session, owner]);
  const isRunning = chat.isRunning || other.isRunning;
  return { chat, other, isRunning, beside, setBeside };
}
