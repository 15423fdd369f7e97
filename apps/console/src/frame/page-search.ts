type RawSearch = Readonly<Record<string, unknown>>;

/** Every name that a page reads from its address. */
export type Nothing<Search> = { readonly [Name in keyof Search]-?: undefined };

/** Reads the part of an address that belongs to a page. The router keeps what is not overwritten, also what is invalid. */
export const pageSearch =
  <Search extends object>(nothing: Nothing<Search>, read: (search: RawSearch) => Search) =>
  (search: RawSearch): Search => ({ ...nothing, ...read(search) });
