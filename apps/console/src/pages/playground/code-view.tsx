import { useEffect, useState, type ReactNode } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { useSettled } from '../../ui/use-settled.ts';

interface CodeViewProps {
  readonly code: string;
  /** As the answer names it; empty where it does not. */
  readonly language: string;
}

/** A block of code in an answer, colored once it no longer grows. */
export function CodeView({ code, language }: CodeViewProps) {
  const { t } = useLanguage();
  const name = language.split(/\s/, 1)[0] ?? '';
  const colored = useColored(useSettled(code), name);
  return (
    <figure className="code-view">
      <figcaption>
        <span>{name === '' ? t('playground.code_block') : name}</span>
        <CopyButton text={code} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{colored?.code === code ? colored.nodes : code}</code>
      </pre>
    </figure>
  );
}

interface Colored {
  readonly code: string;
  readonly nodes: ReactNode;
}

/** The code with its words in colors; undefined until the library is loaded, or where it does not know the language. */
function useColored(code: string, language: string): Colored | undefined {
  const [colored, setColored] = useState<Colored>();
  useEffect(() => {
    if (language === '') return undefined;
    let isWanted = true;
    void import('./highlight.tsx').then(({ highlight }) => {
      const nodes = highlight(code, language);
      if (isWanted && nodes !== undefined) setColored({ code, nodes });
    });
    return () => {
      isWanted = false;
    };
  }, [code, language]);
  return colored;
}
