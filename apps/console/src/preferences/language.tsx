import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { createFormat, type Format } from '../format/format.ts';
import {
  createTranslate,
  loadTexts,
  type Language,
  type Texts,
  type Translate,
} from '../texts/texts.ts';
import { storeLanguage } from './preferences.ts';

interface LanguageValue {
  readonly language: Language;
  readonly t: Translate;
  readonly format: Format;
  readonly choose: (language: Language) => Promise<void>;
}

const LanguageContext = createContext<LanguageValue | undefined>(undefined);

interface LanguageProviderProps {
  readonly initial: { readonly language: Language; readonly texts: Texts };
  readonly children: ReactNode;
}

/** Gives the texts and formats of the chosen language to everything below. */
export function LanguageProvider({ initial, children }: LanguageProviderProps) {
  const [{ language, texts }, setChosen] = useState(initial);
  const choose = useCallback(async (next: Language) => {
    const loaded = await loadTexts(next);
    storeLanguage(next);
    document.documentElement.lang = next;
    setChosen({ language: next, texts: loaded });
  }, []);
  const value = useMemo(
    () => ({
      language,
      t: createTranslate(texts, language),
      format: createFormat(language),
      choose,
    }),
    [language, texts, choose],
  );
  return <LanguageContext value={value}>{children}</LanguageContext>;
}

/** The texts and formats of the chosen language: `const { t, format } = useLanguage()`. */
export function useLanguage(): LanguageValue {
  const value = useContext(LanguageContext);
  if (value === undefined) throw new Error('there is no language around this component');
  return value;
}
