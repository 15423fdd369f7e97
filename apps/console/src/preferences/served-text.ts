import { SERVED_TEXTS } from '../texts/served-texts.ts';
import { useLanguage } from './language.tsx';

/** Finds the translation of a text that the service serves in English. */
export function useServedText(): (text: string) => string {
  const { language } = useLanguage();
  return (text) => SERVED_TEXTS[language]?.[text] ?? text;
}
