import { useLanguage } from '../../preferences/language.tsx';
import { chatSnippets, KEY_PLACEHOLDER } from '../../ui/code-snippets.ts';
import { SidePanel } from '../../ui/dialog.tsx';
import { Snippets } from '../../ui/snippets.tsx';
import { messagesOf, responseFormat, type ChatSettings } from './chat-settings.ts';
import type { Turn } from './use-chat.ts';

interface ChatCodeProps {
  readonly settings: ChatSettings;
  readonly turns: readonly Turn[];
  readonly onClose: () => void;
}

/** The chat as a program. */
export function ChatCode({ settings, turns, onClose }: ChatCodeProps) {
  const { t } = useLanguage();
  const { system, model, temperature, maxTokens, tools, schema } = settings;
  const last = turns.at(-1);
  return (
    <SidePanel
      isOpen
      onClose={onClose}
      title={t('playground.code.title')}
      description={t('playground.code.key', { placeholder: KEY_PLACEHOLDER })}
    >
      <Snippets
        snippets={chatSnippets(location.origin, KEY_PLACEHOLDER, {
          model,
          messages: messagesOf(
            system,
            turns.slice(0, -1),
            last?.question ?? t('welcome.chat.prompt'),
            last?.images,
          ),
          temperature,
          max_tokens: maxTokens,
          tools,
          response_format: schema === undefined ? undefined : responseFormat(schema),
        })}
      />
    </SidePanel>
  );
}
