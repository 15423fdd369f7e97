import { ArrowDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import type { ChatSettings } from './chat-settings.ts';
import { TurnView } from './turn-view.tsx';
import type { useChat } from './use-chat.ts';
import { useFollow } from './use-follow.ts';

interface ChatColumnProps {
  readonly chat: ReturnType<typeof useChat>;
  readonly settings: ChatSettings;
  /** The choice of the model. */
  readonly head: ReactNode;
  /** What is shown before the first question. */
  readonly empty: ReactNode;
}

/** The turns of one model. */
export function ChatColumn({ chat, settings, head, empty }: ChatColumnProps) {
  const { t } = useLanguage();
  const { scroller, content, isAtEnd, jump } = useFollow();
  // The server keeps what was asked in a conversation.
  const canChange = settings.conversationId === undefined && !chat.isRunning;
  return (
    <div className="chat-column">
      <div className="chat-head">{head}</div>
      {/* Its text can be scrolled with the keyboard. */}
      <div
        className="chat-scroll"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={settings.model}
      >
        <div className="chat-turns" ref={content} aria-live="polite">
          {chat.turns.length === 0 ? empty : null}
          {chat.turns.map((turn, index) => {
            const ask = (text: string): void =>
              void chat.ask({ text, images: turn.images }, chat.turns.slice(0, index), settings);
            const isLast = index === chat.turns.length - 1;
            return (
              <TurnView
                key={turn.id}
                turn={turn}
                {...(canChange ? { onEdit: ask } : {})}
                {...(canChange && isLast ? { onRegenerate: () => ask(turn.question) } : {})}
              />
            );
          })}
        </div>
      </div>
      {isAtEnd ? null : (
        <Button className="chat-jump" onClick={jump}>
          <ArrowDown aria-hidden size={14} /> {t('playground.newest')}
        </Button>
      )}
    </div>
  );
}
