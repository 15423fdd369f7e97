import './welcome.css';
import { Link } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useSessionState } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Page } from '../../ui/page.tsx';
import { AccountStep } from './account-step.tsx';
import { FirstChat } from './first-chat.tsx';
import { KeyStep } from './key-step.tsx';
import { ModelsStep } from './models-step.tsx';

const STEPS = 3;

/** Account, models and key, then a first chat: the first minutes of an installation. */
export function WelcomePage() {
  const { t } = useLanguage();
  const session = useSessionState();
  const isSignedIn = session.status === 'signed-in';
  const [step, setStep] = useState(isSignedIn ? 2 : 1);
  // Another person may have been faster, or the admin token was left out.
  const ordinary = isSignedIn && !session.user.is_admin ? session.user : undefined;
  const [model, setModel] = useState<string>();
  const next = (): void => setStep((now) => now + 1);
  return (
    <main className="narrow narrow-wide">
      <Page title={t('welcome.title')} intro={t('welcome.intro')}>
        {ordinary === undefined ? null : (
          <p className="note" role="status">
            {t('welcome.account.ordinary', { email: ordinary.email })}
          </p>
        )}
        <ol className="steps">
          <Step
            number={1}
            current={step}
            title={t(ordinary === undefined ? 'welcome.account' : 'welcome.account.own')}
          >
            <AccountStep onDone={next} />
          </Step>
          <Step number={2} current={step} title={t('welcome.models')}>
            <ModelsStep
              onDone={(chosen) => {
                setModel(chosen);
                next();
              }}
              {...(isSignedIn ? { onSkip: next } : {})}
            />
          </Step>
          <Step number={3} current={step} title={t('welcome.key')}>
            <KeyStep onDone={next} />
          </Step>
        </ol>
        {step > STEPS ? (
          <>
            <FirstChat model={model} />
            <p>
              <Link to="/playground" className="button">
                {t('welcome.done')}
              </Link>
            </p>
          </>
        ) : null}
      </Page>
    </main>
  );
}

interface StepProps {
  readonly number: number;
  readonly current: number;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ number, current, title, children }: StepProps) {
  const { t } = useLanguage();
  const isDone = number < current;
  return (
    <li className="step" aria-current={number === current ? 'step' : undefined}>
      <h2 className="step-title">
        <span className="step-number" aria-hidden>
          {isDone ? <Check size={14} /> : number}
        </span>
        <span className="visually-hidden">{t('welcome.step', { step: number, steps: STEPS })}</span>
        {title}
      </h2>
      {number === current ? <div className="step-body">{children}</div> : null}
    </li>
  );
}
