import type { en } from './en.ts';
import type { PluralText } from './plural-text.ts';

/** The name of a text. */
export type TextKey = keyof typeof en;

/** All texts of a language. A text about a number can have two forms. */
export type Texts = Readonly<Record<TextKey, string | PluralText>>;
