/** The words of a text or of a name in any spelling (`getWeather`, `get_weather`), in lower case. */
export const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

const UNIMPORTANT = new Set(
  (
    'a an and are as at be by can do does for from get give have how i if in into is it its me my of on or our please ' +
    'returns return run set show tell that the their then this to tool function use uses using was we what when where ' +
    'which who why will with would you your'
  ).split(' '),
);

/** The words that say what a text is about, without their plural. */
export const topicsOf = (text: string): ReadonlySet<string> =>
  new Set(
    wordsOf(text)
      .filter((word) => !UNIMPORTANT.has(word))
      .map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)),
  );
