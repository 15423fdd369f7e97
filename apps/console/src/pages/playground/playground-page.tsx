import './playground.css';
import { getRouteApi } from '@tanstack/react-router';
import { Columns2, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { canChat, modelsQuery } from '../../api/models.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { SidePanel } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton, usePageTitle } from '../../ui/page.tsx';
import { useMedia } from '../../ui/use-media.ts';
import { ChatCode } from './chat-code.tsx';
import { ChatColumn } from './chat-column.tsx';
import { storedTurns } from './chat-settings.ts';
import { ChatStart } from './chat-start.tsx';
import { Composer } from './composer.tsx';
import { Conversations } from './conversations.tsx';
import { ModelPicker } from './model-picker.tsx';
import { NoModel } from './no-model.tsx';
import { Parameters, settingsOf } from './parameters.tsx';
import { PlaygroundBar, type PlaygroundTool } from './playground-bar.tsx';
import { storedModel, storeModel } from './stored-model.ts';
import { storedParameters, storeParameters } from './stored-parameters.ts';
import type { Question, useChat } from './use-chat.ts';
import { useKeptChat } from './use-kept-chat.ts';

const route = getRouteApi('/shell/playground');

const NONE = '';
const TITLE_CHARS_MAX = 60;
/** There is room for the parameters beside the chat. */
const WIDE = '(min-width: 1100px)';

/** A chat with any model, or with two at once, with its numbers and the same request as code. */
export function PlaygroundPage() {
  const { t } = useLanguage();
  usePageTitle(t('playground.title'));
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  const search = route.useSearch();
  const { model: wanted, conversation } = search;
  const navigate = route.useNavigate();
  const [texts, setTexts] = useState(storedParameters);
  const [isKept, setKept] = useState(false);
  const [open, setOpen] = useState<PlaygroundTool>();
  const isWide = useMedia(WIDE);
  const { chat, other, isRunning, beside, setBeside } = useKeptChat(search);
  const create = useCall('conversations.create', { changes: ['conversations.list'] });
  const stored = useStoredTurns(conversation, chat.show);
  const chatModels = (models.data ?? []).filter(canChat);
  const [remembered] = useState(storedModel);
  const find = (id: string | undefined) => chatModels.find((each) => each.id === id)?.id;
  const model = find(wanted) ?? find(remembered) ?? chatModels[0]?.id;
  const second = conversation === undefined ? find(beside) : undefined;
  const settings = { ...settingsOf(texts), model: model ?? '', conversationId: conversation };
  const close = (): void => setOpen(undefined);

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
  const compare = (id: string): void => {
    setBeside(id);
    change({ beside: id });
  };

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
  const stop = (): void => {
    chat.stop();
    other.stop();
  };
  const parameters = (
    <Parameters
      texts={texts}
      onChange={(next) => {
        setTexts(next);
        storeParameters(next);
      }}
    />
  );
  const start = <ChatStart onAsk={(text) => void send({ text, images: [] })} />;
  return (
    <section className="playground">
      <PlaygroundBar
        open={open}
        onOpen={(tool) => setOpen(tool === open ? undefined : tool)}
        {...(chat.turns.length === 0 ? {} : { onRestart: restart })}
      />
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      <ErrorNote error={create.error ?? stored.error} />
      {models.isPending ? <Skeleton /> : null}
      {models.data !== undefined && model === undefined ? (
        <NoModel text={t('playground.model.none')} />
      ) : null}
      {model === undefined ? null : (
        <div className="playground-body">
          <div className="playground-chat">
            <div className="chat-columns">
              <ChatColumn
                chat={chat}
                settings={settings}
                empty={start}
                head={
                  <>
                    <ModelPicker
                      models={chatModels}
                      value={model}
                      onChange={(next) => {
                        storeModel(next);
                        change({ model: next });
                      }}
                    />
                    {second === undefined && conversation === undefined ? (
                      <Button
                        kind="quiet"
                        onClick={() => compare(otherModel(chatModels, model))}
                        disabled={isRunning}
                      >
                        <Columns2 aria-hidden size={14} /> {t('playground.compare')}
                      </Button>
                    ) : null}
                  </>
                }
              />
              {second === undefined ? null : (
                <ChatColumn
                  chat={other}
                  settings={{ ...settings, model: second, conversationId: undefined }}
                  empty={null}
                  head={
                    <>
                      <ModelPicker isSecond models={chatModels} value={second} onChange={compare} />
                      <IconButton
                        label={t('playground.compare.end')}
                        onClick={() => {
                          other.clear();
                          compare(NONE);
                        }}
                      >
                        <X aria-hidden size={16} />
                      </IconButton>
                    </>
                  }
                />
              )}
            </div>
            <Composer isRunning={isRunning} onStop={stop} onSend={(asked) => void send(asked)}>
              <label className="check composer-keep">
                <input
                  type="checkbox"
                  checked={isKept || conversation !== undefined}
                  disabled={conversation !== undefined}
                  onChange={(event) => setKept(event.currentTarget.checked)}
                />
                {t('playground.keep')}
              </label>
            </Composer>
          </div>
          {open === 'parameters' && isWide ? (
            <aside className="playground-panel" aria-label={t('playground.parameters')}>
              <div className="panel-head">
                <h2>{t('playground.parameters')}</h2>
                <IconButton label={t('action.close')} onClick={close}>
                  <X aria-hidden size={16} />
                </IconButton>
              </div>
              {parameters}
            </aside>
          ) : null}
        </div>
      )}
      <SidePanel
        isOpen={open === 'parameters' && !isWide}
        onClose={close}
        title={t('playground.parameters')}
      >
        {parameters}
      </SidePanel>
      {open === 'code' ? <ChatCode settings={settings} turns={chat.turns} onClose={close} /> : null}
      {open === 'conversations' ? (
        <Conversations
          onClose={close}
          onOpen={(id) => {
            close();
            other.clear();
            setBeside(NONE);
            change({ conversation: id, beside: NONE });
          }}
        />
      ) : null}
    </section>
  );
}

/** The model to compare with at first. */
const otherModel = (models: readonly { readonly id: string }[], model: string): string =>
  models.find(({ id }) => id !== model)?.id ?? model;

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
