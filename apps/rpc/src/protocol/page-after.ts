/** The page of a list in memory that follows the entry with a name; from the beginning without one, empty for an unknown one. */
export function pageAfter<Entry>(
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
  { after, limit }: { readonly after?: string | null | undefined; readonly limit: number },
): readonly Entry[] {
  if (after === undefined || after === null) return entries.slice(0, limit);
  const index = entries.findIndex((entry) => nameOf(entry) === after);
  return index === -1 ? [] : entries.slice(index + 1, index + 1 + limit);
}
