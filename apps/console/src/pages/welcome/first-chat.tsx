import { useState } from 'react';
import { canChat, modelsQuery } from '../../api/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { chatSnippets, KEY_PLACEHOLDER } from '../../ui/code-snippets.ts';
import { TextField } from '../../ui/field.tsx';
import { Snippets } from '../../ui/snippets.tsx';
import { TurnView } from '../playground/turn-view.tsx';
import { requestOfQuery } from '../playground/request-of.ts';
import { useChat } from '../playground/use-chat.ts';
import { RequestTable } from '../../spend/request-table.tsx';

interface FirstChatProps {
  /** Undefined where the step was skipped. */
  readonly model: string | undefined;
  /** The key that was just created, for the code. */
  readonly apiKey: string | undefined;
}

/** A streamed answer, the same request as code, and the usage row of that very chat. */
export function FirstChat({ model: chosen, apiKey = KEY_PLACEHOLDER }: FirstChatProps) {
  const { t } = useLanguage();
  const api = useApi();
  const models = useQuery(modelsQuery(api)).data;
  const ready = (models ?? []).filter(canChat);
  const model = (ready.find(({ id }) => id === chosen) ?? ready[0])?.id ?? 'demo-chat';
  const chat = useChat();
  const [question, setQuestion] = useState(() => t('welcome.chat.prompt'));
  const turn = chat.turns.at(-1);
  const settings = { model, system: '', temperature: undefined, maxTokens: undefined };
  return (
    <section className="form" aria-labelledby="first-chat">
      <h2 id="first-chat">{t('welcome.chat')}</h2>
      <p>{t('welcome.chat.text')}</p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void chat.ask({ text: question, images: [] }, [], settings);
        }}
      >
        <TextField
          label={t('playground.message')}
          value={question}
          onValueChange={(value) => setQuestion(value)}
        />
        <div>
          <Button kind="primary" type="submit" disabled={chat.isRunning || question.trim() === ''}>
            {t('welcome.chat.send')}
          </Button>
        </div>
      </form>
      <div aria-live="polite">{turn === undefined ? null : <TurnView turn={turn} />}</div>
      {turn?.end === undefined ? null : <FirstUsage refId={turn.refId} />}
      <Snippets
        snippets={chatSnippets(location.origin, apiKey, {
          model,
          messages: [{ role: 'user', content: question }],
        })}
      />
    </section>
  );
}

function FirstUsage({ refId }: { readonly refId: string | undefined }) {
  const { t } = useLanguage();
  const api = useApi();
  const row = useQuery(requestOfQuery(api, refId)).data;
  return (
    <>
      <h2>{t('welcome.usage')}</h2>
      {row === undefined || row === null ? (
        <p role="status">{t('welcome.usage.waiting')}</p>
      ) : (
        <RequestTable rows={[row]} />
      )}
    </>
  );
}
