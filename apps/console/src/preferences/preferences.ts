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
export function readPreference(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function removePreference(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Then nothing was stored.
  }
}

export function writePreference(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice then lasts until the page is closed.
  }
}
