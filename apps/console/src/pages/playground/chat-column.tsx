import { useLanguage } from '../../preferences/language.tsx';
import { Empty } from '../../ui/empty.tsx';
import type { ChatSettings } from './chat-settings.ts';
import { TurnView } from './turn-view.tsx';
import type { useChat } from './use-chat.ts';

interface ChatColumnProps {
  readonly chat: ReturnType<typeof useChat>;
  readonly settings: ChatSettings;
}

/** The turns of one model. */
export function ChatColumn({ chat, settings }: ChatColumnProps) {
  const { t } = useLanguage();
  // The server keeps what was asked in a conversation.
  const canChange = settings.conversationId === undefined && !chat.isRunning;
  return (
    <div className="playground-column">
      {chat.turns.length === 0 ? <Empty text={t('playground.empty')} /> : null}
      <div aria-live="polite">
        {chat.turns.map((turn, index) => {
          const ask = (text: string): void =>
            void chat.ask({ text, images: turn.images }, chat.turns.slice(0, index), settings);
          return (
            <TurnView
              key={turn.id}
              turn={turn}
              {...(canChange ? { onEdit: ask } : {})}
              {...(canChange && index === chat.turns.length - 1
                ? { onRegenerate: () => ask(turn.question) }
                : {})}
            />
          );
        })}
      </div>
    </div>
  );
}
