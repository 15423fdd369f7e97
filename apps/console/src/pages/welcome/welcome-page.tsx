import './welcome.css';
import { Link } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { useCallback, useState, type ReactNode } from 'react';
import type { SessionUser } from '../../api/session.ts';
import { useApi, useSessionState } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { Outside } from '../../frame/outside.tsx';
import { useLanguage } from '../../preferences/language.tsx';
import { Page } from '../../ui/page.tsx';
import { storedModel, storeModel } from '../playground/stored-model.ts';
import { AccountStep } from './account-step.tsx';
import { AdminTier } from './admin-tier.tsx';
import { FirstChat } from './first-chat.tsx';
import { KeyStep } from './key-step.tsx';
import { ModelsStep } from './models-step.tsx';
import { finishSetUp, isBefore, stepAfter, STEPS, storedStep, storeStep } from './set-up.ts';
import type { StepName } from './set-up.ts';

/** What is shown of the first key later: enough to find it in the list. */
const KEY_START = 12;
const KEY_END = 4;

/** Account, models and key, then a first chat: the first minutes of an installation. A setup that was left is continued. */
export function WelcomePage() {
  const { t } = useLanguage();
  const session = useSessionState();
  const user = session.status === 'signed-in' ? session.user : undefined;
  // Another person may have been faster, or the admin token was left out.
  const ordinary = user?.is_admin === false ? user : undefined;
  const [reached, setReached] = useState(() => firstStep(user));
  const [opened, setOpened] = useState<StepName>();
  const [model, setModel] = useState(storedModel);
  const [key, setKey] = useState<string>();
  const current = opened ?? reached;
  const leave = useCallback((step: StepName): void => {
    setOpened(undefined);
    setReached((now) => {
      const next = isBefore(step, now) ? now : stepAfter(step);
      storeStep(next);
      return next;
    });
  }, []);
  const leaveAccount = useCallback(() => leave('account'), [leave]);
  const step = (name: (typeof STEPS)[number], title: string, body: ReactNode, done?: string) => (
    <Step
      number={STEPS.indexOf(name) + 1}
      title={title}
      isCurrent={name === current}
      isDone={isBefore(name, reached)}
      summary={done}
      {...(name !== 'account' && isBefore(name, reached) && name !== current
        ? { onOpen: () => setOpened(name) }
        : {})}
    >
      {body}
    </Step>
  );
  return (
    <Outside isWide>
      <Page title={t('welcome.title')} intro={t('welcome.intro')}>
        {ordinary === undefined ? null : (
          <p className="note" role="status">
            {t('welcome.account.ordinary', { email: ordinary.email })}
          </p>
        )}
        <ol className="steps">
          {step(
            'account',
            t(ordinary === undefined ? 'welcome.account' : 'welcome.account.own'),
            user?.is_admin === true ? (
              <AdminTier onDone={leaveAccount} />
            ) : (
              <AccountStep
                onBegin={() => storeStep('account')}
                onFailed={finishSetUp}
                onDone={leaveAccount}
              />
            ),
            user?.email,
          )}
          {step(
            'models',
            t('welcome.models'),
            <>
              {user?.is_admin === true ? <AdminNote /> : null}
              <ModelsStep
                onDone={(chosen) => {
                  setModel(chosen);
                  storeModel(chosen);
                  leave('models');
                }}
                onSkip={() => leave('models')}
              />
            </>,
            model,
          )}
          {step(
            'key',
            t('welcome.key'),
            <KeyStep
              onDone={(created) => {
                setKey(created);
                leave('key');
              }}
            />,
            key === undefined ? undefined : `${key.slice(0, KEY_START)}…${key.slice(-KEY_END)}`,
          )}
        </ol>
        {reached === 'chat' ? (
          <>
            <FirstChat model={model} apiKey={key} />
            <p className="card-actions">
              <Link
                to="/playground"
                search={model === undefined ? {} : { model }}
                className="button button-primary"
                onClick={finishSetUp}
              >
                {t('welcome.done')}
              </Link>
              <Link to="/requests" className="button" onClick={finishSetUp}>
                {t('welcome.requests')}
              </Link>
            </p>
          </>
        ) : null}
      </Page>
    </Outside>
  );
}

/** Only an admin, who was registered through the provider, comes back to the first step. */
function firstStep(user: SessionUser | undefined): StepName {
  if (user === undefined) return 'account';
  const stored = storedStep() ?? 'models';
  return stored === 'account' && !user.is_admin ? 'models' : stored;
}

/** Whose account this is, and what it may use. */
function AdminNote() {
  const { t } = useLanguage();
  const api = useApi();
  const tier = useQuery(api.query('billing.plan')).data?.current_tier;
  return (
    <p>
      {t('welcome.account.text')} {tier === undefined ? null : t('welcome.account.tier', { tier })}
    </p>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isCurrent: boolean;
  readonly isDone: boolean;
  /** What was done, once it is. */
  readonly summary: string | undefined;
  /** Opens a step again. */
  readonly onOpen?: () => void;
  readonly children: ReactNode;
}

function Step({ number, title, isCurrent, isDone, summary, onOpen, children }: StepProps) {
  const { t } = useLanguage();
  return (
    <li className="step" aria-current={isCurrent ? 'step' : undefined}>
      <h2 className="step-title">
        <span className={`step-number${isDone ? ' step-done' : ''}`} aria-hidden>
          {isDone ? <Check size={14} /> : number}
        </span>
        <span className="visually-hidden">
          {t('welcome.step', { step: number, steps: STEPS.length - 1 })}
        </span>
        {onOpen === undefined ? (
          title
        ) : (
          <button type="button" className="step-open" onClick={onOpen}>
            {title}
          </button>
        )}
        {isDone && !isCurrent && summary !== undefined ? (
          <span className="step-summary">{summary}</span>
        ) : null}
      </h2>
      {isCurrent ? <div className="step-body">{children}</div> : null}
    </li>
  );
}
