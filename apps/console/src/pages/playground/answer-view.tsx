import { Wrench } from 'lucide-react';
import { useLanguage } from '../../preferences/language.tsx';
import { Markdown } from './markdown.tsx';
import { splitThoughts } from './thoughts.ts';
import type { ToolCall } from './tool-calls.ts';

interface AnswerViewProps {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly isRunning: boolean;
  /** Whether the text is shown as the model wrote it. */
  readonly isRaw: boolean;
}

/** What a model answered: its thoughts folded, its text, and the tools that it wants to call. */
export function AnswerView({ text, toolCalls, isRunning, isRaw }: AnswerViewProps) {
  const { t } = useLanguage();
  const { thoughts, answer, isThinking } = splitThoughts(text);
  const isWaiting = isRunning && answer === '' && toolCalls.length === 0;
  return (
    <>
      {thoughts === '' ? null : (
        <details className="turn-thoughts">
          <summary>{t(isThinking ? 'playground.thinking' : 'playground.thoughts')}</summary>
          <Markdown text={thoughts} />
        </details>
      )}
      {isWaiting && thoughts === '' ? <span className="turn-waits" aria-hidden /> : null}
      {isRaw ? <pre className="turn-raw">{answer}</pre> : <Markdown text={answer} />}
      {toolCalls.map((call, place) => (
        <div key={place} className="tool-call">
          <p className="tool-call-name">
            <Wrench aria-hidden size={14} /> {t('playground.tool_call', { name: call.name })}
          </p>
          <pre tabIndex={0}>
            <code>{indented(call.arguments)}</code>
          </pre>
        </div>
      ))}
    </>
  );
}

/** JSON on several lines; a part of JSON, as while it is streamed, as it is. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
