import { Code, History, SlidersHorizontal, SquarePen } from 'lucide-react';
import { useLanguage } from '../../preferences/language.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { PlaygroundTabs } from './playground-tabs.tsx';

const TOOLS = [
  { name: 'conversations', icon: History },
  { name: 'code', icon: Code },
  { name: 'parameters', icon: SlidersHorizontal },
] as const;

/** What can be opened beside a chat. */
export type PlaygroundTool = (typeof TOOLS)[number]['name'];

interface PlaygroundBarProps {
  readonly open: PlaygroundTool | undefined;
  readonly onOpen: (tool: PlaygroundTool) => void;
  /** Begins a new chat; absent while there is nothing in this one. */
  readonly onRestart?: () => void;
}

export function PlaygroundBar({ open, onOpen, onRestart }: PlaygroundBarProps) {
  const { t } = useLanguage();
  return (
    <header className="playground-bar">
      <h1>{t('playground.title')}</h1>
      <PlaygroundTabs />
      <div className="playground-tools">
        {TOOLS.map(({ name, icon: Icon }) => (
          <IconButton
            key={name}
            label={t(`playground.${name}`)}
            aria-expanded={open === name}
            onClick={() => onOpen(name)}
          >
            <Icon aria-hidden size={16} />
          </IconButton>
        ))}
        <Button onClick={onRestart} disabled={onRestart === undefined}>
          <SquarePen aria-hidden size={14} />
          <span className="playground-new">{t('playground.clear')}</span>
        </Button>
      </div>
    </header>
  );
}
