type RawSearch = Readonly<Record<string, unknown>>;

/** Every name that a page reads from its address. */
export type Nothing<Search> = { readonly [Name in keyof Search]-?: undefined };

/** Reads the part of an address that belongs to a page. The router keeps what is not overwritten, also what is invalid. */
export const pageSearch =
  <Search extends object>(nothing: Nothing<Search>, read: (search: RawSearch) => Search) =>
  (search: RawSearch): Search => ({ ...nothing, ...read(search) });

/** Reads texts of an address that are not empty. */
export const textSearch =
  <Name extends string>(...names: readonly Name[]) =>
  (search: RawSearch): { readonly [Each in Name]?: string } => {
    const found: { [Each in Name]?: string | undefined } = {};
    for (const name of names) {
      const value = search[name];
      found[name] = typeof value === 'string' && value !== '' ? value : undefined;
    }
    return found;
  };

/** One of several words in an address; undefined where it is none of them. */
export const wordOf = <Word extends string>(
  words: readonly Word[],
  value: unknown,
): Word | undefined => words.find((word) => word === value);
