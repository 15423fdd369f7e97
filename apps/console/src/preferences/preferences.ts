import { LANGUAGES, languageOf, type Language } from '../texts/texts.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const THEME_KEY = 'console-theme';
const LANGUAGE_KEY = 'console-language';

/** What the viewer chose for this browser. A browser that keeps nothing uses the defaults. */
export function storedTheme(): Theme {
  const stored = readPreference(THEME_KEY);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

/** Shows the theme; `system` leaves the choice to the browser. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export const storeTheme = (theme: Theme): void => writePreference(THEME_KEY, theme);

export function storedLanguage(): Language {
  const stored = readPreference(LANGUAGE_KEY);
  return LANGUAGES.find((language) => language === stored) ?? languageOf(navigator.languages);
}

export const storeLanguage = (language: Language): void => writePreference(LANGUAGE_KEY, language);

/** What this browser keeps for the console: choices of the viewer, never secrets. */
export const readPreference = (key: string): string | null =>
  tried(() => localStorage.getItem(key));

export const removePreference = (key: string): void =>
  void tried(() => localStorage.removeItem(key));

export const writePreference = (key: string, value: string): void =>
  void tried(() => localStorage.setItem(key, value));

/** What a tab keeps until it is closed, or its user signs out. */
export const readTab = (key: string): string | null => tried(() => sessionStorage.getItem(key));

export const writeTab = (key: string, value: string): void =>
  void tried(() => sessionStorage.setItem(key, value));

export const forgetTab = (): void => void tried(() => sessionStorage.clear());

/** A browser may keep nothing; what is chosen then lasts until the page is closed. */
function tried<Result>(use: () => Result): Result | null {
  try {
    return use();
  } catch {
    return null;
  }
}
