import { useQuery } from '@tanstack/react-query';
import { Code, Plus, Square } from 'lucide-react';
import { useState } from 'react';
import { canChat, modelsQuery } from '../../api/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { chatSnippets, KEY_PLACEHOLDER } from '../../ui/code-snippets.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Page, Skeleton } from '../../ui/page.tsx';
import { Snippets } from '../../ui/snippets.tsx';
import { ModelPicker } from './model-picker.tsx';
import { playgroundRoute } from './route.ts';
import { TurnView } from './turn-view.tsx';
import { messagesOf, useChat, type ChatSettings } from './use-chat.ts';

/** A chat with any model, with its numbers and the same request as code. */
export function PlaygroundPage() {
  const { t } = useLanguage();
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  const { model: wanted } = playgroundRoute.useSearch();
  const navigate = playgroundRoute.useNavigate();
  const [parameters, setParameters] = useState({ system: '', temperature: '', maxTokens: '' });
  const [isCodeOpen, setCodeOpen] = useState(false);
  const chat = useChat();
  const chatModels = (models.data ?? []).filter(canChat);
  const model = chatModels.find(({ id }) => id === wanted)?.id ?? chatModels[0]?.id;
  const settings: ChatSettings = {
    model: model ?? '',
    system: parameters.system,
    temperature: numberOf(parameters.temperature),
    maxTokens: numberOf(parameters.maxTokens),
  };
  const actions = (
    <>
      <Button onClick={() => setCodeOpen(true)} disabled={model === undefined}>
        <Code aria-hidden size={14} /> {t('playground.code')}
      </Button>
      <Button onClick={() => chat.clear()} disabled={chat.turns.length === 0}>
        <Plus aria-hidden size={14} /> {t('playground.clear')}
      </Button>
    </>
  );
  return (
    <Page title={t('playground.title')} actions={actions}>
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      {models.isPending ? <Skeleton /> : null}
      {models.data !== undefined && model === undefined ? (
        <Empty text={t('playground.model.none')} />
      ) : null}
      {model === undefined ? null : (
        <div className="playground">
          <div className="playground-panel">
            <ModelPicker
              models={chatModels}
              value={model}
              onChange={(next) =>
                void navigate({ search: (search) => ({ ...search, model: next }), replace: true })
              }
            />
            <TextField
              label={t('playground.system')}
              render={<textarea rows={3} />}
              value={parameters.system}
              onValueChange={(system) => setParameters({ ...parameters, system })}
            />
            <TextField
              label={t('playground.temperature')}
              type="number"
              min={0}
              max={2}
              step={0.1}
              value={parameters.temperature}
              onValueChange={(temperature) => setParameters({ ...parameters, temperature })}
            />
            <TextField
              label={t('playground.max_tokens')}
              type="number"
              min={1}
              value={parameters.maxTokens}
              onValueChange={(maxTokens) => setParameters({ ...parameters, maxTokens })}
            />
          </div>
          <div className="playground-chat">
            {chat.turns.length === 0 ? <Empty text={t('playground.empty')} /> : null}
            <div aria-live="polite">
              {chat.turns.map((turn, index) => (
                <TurnView
                  key={turn.id}
                  turn={turn}
                  {...(index === chat.turns.length - 1 && !chat.isRunning
                    ? {
                        onRegenerate: () =>
                          void chat.ask(turn.question, chat.turns.slice(0, index), settings),
                      }
                    : {})}
                />
              ))}
            </div>
            <Composer
              isRunning={chat.isRunning}
              onStop={() => chat.stop()}
              onSend={(text) => void chat.ask(text, chat.turns, settings)}
            />
          </div>
        </div>
      )}
      <Dialog
        isOpen={isCodeOpen}
        onClose={() => setCodeOpen(false)}
        title={t('playground.code.title')}
        description={t('playground.code.key', { placeholder: KEY_PLACEHOLDER })}
      >
        <Snippets
          snippets={chatSnippets(location.origin, KEY_PLACEHOLDER, {
            model: settings.model,
            messages: messagesOf(
              settings.system,
              chat.turns.slice(0, -1),
              chat.turns.at(-1)?.question ?? t('welcome.chat.prompt'),
            ),
            temperature: settings.temperature,
            max_tokens: settings.maxTokens,
          })}
        />
      </Dialog>
    </Page>
  );
}

interface ComposerProps {
  readonly isRunning: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

function Composer({ isRunning, onSend, onStop }: ComposerProps) {
  const { t } = useLanguage();
  const [text, setText] = useState('');
  const send = (): void => {
    if (text.trim() === '' || isRunning) return;
    onSend(text);
    setText('');
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextField
        label={t('playground.message')}
        placeholder={t('playground.placeholder')}
        render={<textarea rows={3} />}
        value={text}
        onValueChange={(value) => setText(value)}
        onKeyDown={(event) => {
          // Not while an input method composes a character.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {isRunning ? (
        <Button onClick={onStop}>
          <Square aria-hidden size={14} /> {t('playground.stop')}
        </Button>
      ) : (
        <Button kind="primary" type="submit" disabled={text.trim() === ''}>
          {t('playground.send')}
        </Button>
      )}
    </form>
  );
}

const numberOf = (text: string): number | undefined =>
  text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
