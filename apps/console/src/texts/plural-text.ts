/** The forms of a text about a number. */
export interface PluralText {
  /** For one; languages without such a form leave it out. */
  readonly one?: string;
  readonly other: string;
}
