import './playground.css';
import { Code, History, Plus } from 'lucide-react';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { canChat, canEmbed, canTalk, modelsQuery } from '../../api/models.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { chatSnippets, KEY_PLACEHOLDER } from '../../ui/code-snippets.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { Snippets } from '../../ui/snippets.tsx';
import { ChatColumn } from './chat-column.tsx';
import { messagesOf, responseFormat, storedTurns } from './chat-settings.ts';
import { Composer } from './composer.tsx';
import { Conversations } from './conversations.tsx';
import { ModelPicker } from './model-picker.tsx';
import { Parameters, settingsOf } from './parameters.tsx';
import { storedModel, storeModel } from './stored-model.ts';
import { storedParameters, storeParameters } from './stored-parameters.ts';
import { useKeptChat } from './use-kept-chat.ts';
import type { Question, useChat } from './use-chat.ts';
import { NoModel } from './no-model.tsx';

const route = getRouteApi('/shell/playground');

const NONE = '';
const TITLE_CHARS_MAX = 60;

/** A chat with any model, or with two at once, with its numbers and the same request as code. */
export function PlaygroundPage() {
  const { t } = useLanguage();
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  const search = route.useSearch();
  const { model: wanted, conversation } = search;
  const navigate = route.useNavigate();
  const [texts, setTexts] = useState(storedParameters);
  const [isKept, setKept] = useState(false);
  const [open, setOpen] = useState<'code' | 'conversations'>();
  // On a phone the chat is first.
  const [isWide] = useState(() => matchMedia('(min-width: 900px)').matches);
  const { chat, other, isRunning, beside, setBeside } = useKeptChat(search);
  const create = useCall('conversations.create', { changes: ['conversations.list'] });
  const stored = useStoredTurns(conversation, chat.show);
  const chatModels = useMemo(() => (models.data ?? []).filter(canChat), [models.data]);
  const [remembered] = useState(storedModel);
  const find = (id: string | undefined) => chatModels.find((each) => each.id === id)?.id;
  const model = find(wanted) ?? find(remembered) ?? chatModels[0]?.id;
  const second = find(beside);
  const settings = { ...settingsOf(texts), model: model ?? '', conversationId: conversation };

  const change = (next: {
    readonly model?: string;
    readonly beside?: string;
    readonly conversation?: string;
  }): void =>
    void navigate({
      search: (all: object) =>
        Object.fromEntries(
          Object.entries({ ...all, ...next }).filter(
            ([, value]) => value !== NONE && value !== undefined,
          ),
        ),
      replace: true,
    });

  async function send(question: Question): Promise<void> {
    let conversationId = conversation;
    if (isKept && conversationId === undefined) {
      const title = question.text.trim().slice(0, TITLE_CHARS_MAX);
      const created = await create.mutateAsync({ title }).catch(() => undefined);
      // The error is shown; nothing was asked.
      if (created === undefined) return;
      conversationId = created.id;
      stored.skip(conversationId);
      change({ conversation: conversationId });
    }
    void chat.ask(question, chat.turns, { ...settings, conversationId });
    if (second !== undefined)
      void other.ask(question, other.turns, {
        ...settings,
        model: second,
        conversationId: undefined,
      });
  }

  const restart = (): void => {
    chat.clear();
    other.clear();
    change({ conversation: NONE });
  };
  const actions = (
    <>
      {models.data?.some(canEmbed) === true ? (
        <Link to="/playground/embeddings" className="button">
          {t('playground.embeddings')}
        </Link>
      ) : null}
      {models.data?.some(canTalk) === true ? (
        <Link to="/playground/realtime" className="button">
          {t('playground.realtime')}
        </Link>
      ) : null}
      <Button onClick={() => setOpen('conversations')}>
        <History aria-hidden size={14} /> {t('playground.conversations')}
      </Button>
      <Button onClick={() => setOpen('code')} disabled={model === undefined}>
        <Code aria-hidden size={14} /> {t('playground.code')}
      </Button>
      <Button onClick={restart} disabled={chat.turns.length === 0}>
        <Plus aria-hidden size={14} /> {t('playground.clear')}
      </Button>
    </>
  );
  return (
    <Page title={t('playground.title')} actions={actions}>
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      <ErrorNote error={create.error ?? stored.error} />
      {models.isPending ? <Skeleton /> : null}
      {models.data !== undefined && model === undefined ? (
        <NoModel text={t('playground.model.none')} />
      ) : null}
      {model === undefined ? null : (
        <div className="playground">
          <div className="playground-panel">
            <ModelPicker
              models={chatModels}
              value={model}
              onChange={(next) => {
                storeModel(next);
                change({ model: next });
              }}
            />
            {conversation === undefined ? (
              <Select
                label={t('playground.beside')}
                value={second ?? NONE}
                choices={[
                  { value: NONE, label: t('playground.beside.none') },
                  ...chatModels.map(({ id }) => ({ value: id, label: id })),
                ]}
                onChange={(next) => {
                  setBeside(next);
                  change({ beside: next });
                }}
              />
            ) : null}
            <details className="details" open={isWide}>
              <summary>{t('playground.parameters')}</summary>
              <div className="form">
                <label className="check">
                  <input
                    type="checkbox"
                    checked={isKept || conversation !== undefined}
                    disabled={conversation !== undefined}
                    onChange={(event) => setKept(event.currentTarget.checked)}
                  />
                  {t('playground.keep')}
                </label>
                <Parameters
                  texts={texts}
                  onChange={(next) => {
                    setTexts(next);
                    storeParameters(next);
                  }}
                />
              </div>
            </details>
          </div>
          <div className="playground-chat">
            <div className="playground-columns">
              <ChatColumn chat={chat} settings={settings} />
              {second === undefined ? null : (
                <ChatColumn
                  chat={other}
                  settings={{ ...settings, model: second, conversationId: undefined }}
                />
              )}
            </div>
            <Composer
              isRunning={isRunning}
              onStop={() => {
                chat.stop();
                other.stop();
              }}
              onSend={(question) => void send(question)}
            />
          </div>
        </div>
      )}
      <Dialog
        isOpen={open === 'code'}
        onClose={() => setOpen(undefined)}
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
              chat.turns.at(-1)?.images,
            ),
            temperature: settings.temperature,
            max_tokens: settings.maxTokens,
            tools: settings.tools,
            response_format:
              settings.schema === undefined ? undefined : responseFormat(settings.schema),
          })}
        />
      </Dialog>
      {open === 'conversations' ? (
        <Conversations
          onClose={() => setOpen(undefined)}
          onOpen={(id) => {
            setOpen(undefined);
            other.clear();
            setBeside(NONE);
            change({ conversation: id, beside: NONE });
          }}
        />
      ) : null}
    </Page>
  );
}

/** Shows the turns of the conversation in the address, once it is loaded. */
function useStoredTurns(
  conversation: string | undefined,
  show: ReturnType<typeof useChat>['show'],
): { readonly error: unknown; readonly skip: (id: string) => void } {
  const api = useApi();
  // A conversation that was begun on this page is shown already.
  const [own, setOwn] = useState<string>();
  const isNeeded = conversation !== undefined && conversation !== own;
  const stored = useQuery({
    ...api.query('conversations.get', { conversation_id: conversation ?? NONE }),
    enabled: isNeeded,
    refetchOnWindowFocus: false,
  });
  const messages = isNeeded && !stored.isPlaceholderData ? stored.data?.messages : undefined;
  useEffect(() => {
    if (messages !== undefined) show(storedTurns(messages));
  }, [messages, show]);
  return { error: isNeeded ? stored.error : undefined, skip: setOwn };
}
