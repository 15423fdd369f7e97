import type { TextKey, Texts, Translation } from './catalogue.ts';

export type { TextKey, Texts } from './catalogue.ts';

/** What replaces the `{names}` in a text; `count` also chooses its form. */
export type TextValues = Readonly<Record<string, string | number>>;

/** Finds a text of the chosen language. */
export type Translate = (key: TextKey, values?: TextValues) => string;

export const LANGUAGES = ['en', 'de', 'zh-Hans'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The names of the languages, each in itself. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  'zh-Hans': '简体中文',
};

const TRANSLATIONS: Readonly<Record<Language, () => Promise<Translation>>> = {
  en: () => Promise.resolve({}),
  de: async () => (await import('./de.ts')).de,
  'zh-Hans': async () => (await import('./zh-hans.ts')).zhHans,
};

/** Loads the texts of a language; a text without a translation is the English one. */
export async function loadTexts(language: Language): Promise<Texts> {
  const [{ en }, translation] = await Promise.all([import('./en.ts'), TRANSLATIONS[language]()]);
  return { ...en, ...translation };
}

/** The first of the wanted languages that there is. */
export function languageOf(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [base] = tag.toLowerCase().split('-');
    if (base === 'zh') return 'zh-Hans';
    if (base === 'de' || base === 'en') return base;
  }
  return 'en';
}

export function createTranslate(texts: Texts, language: Language): Translate {
  const plural = new Intl.PluralRules(language);
  const number = new Intl.NumberFormat(language);
  return (key, values) => {
    const text = texts[key];
    if (values === undefined) return typeof text === 'string' ? text : text.other;
    const isOne = typeof values['count'] === 'number' && plural.select(values['count']) === 'one';
    const form = typeof text === 'string' ? text : ((isOne ? text.one : undefined) ?? text.other);
    return form.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name];
      return typeof value === 'number' ? number.format(value) : (value ?? whole);
    });
  };
}
