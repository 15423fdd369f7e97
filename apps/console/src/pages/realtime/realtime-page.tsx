import '../playground/playground.css';
import { getRouteApi } from '@tanstack/react-router';
import { Mic, Square } from 'lucide-react';
import { useMemo, useState } from 'react';
import { canTalk, modelsQuery } from '../../api/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { jsonOf } from '../playground/chat-settings.ts';
import { ModelPicker } from '../playground/model-picker.tsx';
import { hasMicrophone } from './microphone.ts';
import { SaidView } from './said-view.tsx';
import { useRealtime } from './use-realtime.ts';
import { NoModel } from '../playground/no-model.tsx';
import { PlaygroundTabs } from '../playground/playground-tabs.tsx';

const route = getRouteApi('/shell/playground/realtime');

const RATES = ['16000', '24000'] as const;
/** The question ends with the button, not when the model hears a pause. */
const CONFIG = '{"turn_detection": null}';

/** Talking to a model. */
export function RealtimePage() {
  const { t } = useLanguage();
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  const able = useMemo(() => (models.data ?? []).filter(canTalk), [models.data]);
  const { model: wanted } = route.useSearch();
  const model = able.find(({ id }) => id === wanted)?.id ?? able[0]?.id;
  return (
    <Page title={t('realtime.title')} intro={t('realtime.intro')} actions={<PlaygroundTabs />}>
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      {models.isPending ? <Skeleton /> : null}
      {models.data !== undefined && model === undefined ? (
        <NoModel text={t('realtime.none')} />
      ) : null}
      {model === undefined ? null : hasMicrophone() ? (
        <Conversation models={able} model={model} />
      ) : (
        <Empty text={t('realtime.insecure')} />
      )}
    </Page>
  );
}

interface ConversationProps {
  readonly models: Parameters<typeof ModelPicker>[0]['models'];
  readonly model: string;
}

function Conversation({ models, model }: ConversationProps) {
  const { t, format } = useLanguage();
  const navigate = route.useNavigate();
  const [rate, setRate] = useState<(typeof RATES)[number]>('16000');
  const [config, setConfig] = useState(CONFIG);
  const parsed = jsonOf(config, 'object');
  const talk = useRealtime();
  const { state, transcript } = talk;
  return (
    <div className="playground">
      <div className="playground-panel">
        <ModelPicker
          isLabelHidden={false}
          models={models}
          value={model}
          onChange={(next) => void navigate({ search: { model: next }, replace: true })}
        />
        <Select
          label={t('realtime.rate')}
          value={rate}
          choices={RATES.map((value) => ({ value, label: format.number(Number(value)) }))}
          onChange={setRate}
          isDisabled={state !== 'closed'}
        />
        <TextField
          label={t('realtime.config')}
          hint={t('realtime.config.hint')}
          render={<textarea rows={3} spellCheck={false} />}
          value={config}
          problem={parsed.isWrong ? t('playground.json.wrong') : undefined}
          onValueChange={(text) => setConfig(text)}
          disabled={state !== 'closed'}
        />
      </div>
      <div className="playground-chat">
        <div role="status">
          <Badge state={state === 'listening' ? 'warning' : state === 'open' ? 'good' : 'neutral'}>
            {t(`realtime.state.${state}`)}
          </Badge>
        </div>
        <ErrorNote error={talk.error} />
        {transcript.problem === undefined ? null : (
          <p className="field-problem" role="alert">
            {t('realtime.problem', { message: transcript.problem })}
          </p>
        )}
        <div aria-live="polite">
          {transcript.said.map((said, place) => (
            <SaidView key={place} said={said} model={model} />
          ))}
        </div>
        <div className="composer-actions">
          {state === 'closed' || state === 'opening' ? (
            <Button
              kind="primary"
              disabled={state === 'opening' || parsed.isWrong}
              onClick={() =>
                void talk.start({
                  model,
                  rate: Number(rate),
                  config: (parsed.value ?? {}) as Readonly<Record<string, unknown>>,
                })
              }
            >
              <Mic aria-hidden size={14} /> {t('realtime.start')}
            </Button>
          ) : (
            <>
              {state === 'listening' ? (
                <Button kind="primary" onClick={() => talk.ask()}>
                  {t('realtime.ask')}
                </Button>
              ) : (
                <Button kind="primary" onClick={() => talk.listen()} disabled={talk.isAnswering}>
                  <Mic aria-hidden size={14} /> {t('realtime.listen')}
                </Button>
              )}
              <Button onClick={talk.interrupt} disabled={!talk.isAnswering}>
                <Square aria-hidden size={14} /> {t('playground.stop')}
              </Button>
              <Button onClick={talk.close}>{t('realtime.close')}</Button>
            </>
          )}
        </div>
      </div>
    </div>
  );
}
