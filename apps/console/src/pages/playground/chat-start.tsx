import { useLanguage } from '../../preferences/language.tsx';
import { Logo } from '../../ui/logo.tsx';

const EXAMPLES = [
  'playground.example.explain',
  'playground.example.write',
  'playground.example.compare',
] as const;

interface ChatStartProps {
  readonly onAsk: (question: string) => void;
}

/** A chat without questions: a few to begin with. */
export function ChatStart({ onAsk }: ChatStartProps) {
  const { t } = useLanguage();
  return (
    <div className="chat-start">
      <Logo size={40} />
      <h2>{t('playground.start')}</h2>
      <ul className="chat-examples">
        {EXAMPLES.map((example) => (
          <li key={example}>
            <button type="button" className="chat-example" onClick={() => onAsk(t(example))}>
              {t(example)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
