import type { en } from './en.ts';
import type { PluralText } from './plural-text.ts';

/** The name of a text. */
export type TextKey = keyof typeof en;

/** All texts. A text about a number can have two forms. */
export type Texts = Readonly<Record<TextKey, string | PluralText>>;

/** The texts of another language; those that are not translated yet are shown in English. */
export type Translation = Partial<Texts>;
