/** The first items whose name contains the text, whatever its case. It stops when there are enough: a list of ten thousand is of no use. */
export function matching<Item>(
  items: Iterable<Item>,
  text: string,
  { nameOf, max }: { readonly nameOf: (item: Item) => string; readonly max: number },
): Item[] {
  const wanted = text.trim().toLowerCase();
  const found: Item[] = [];
  for (const item of items) {
    if (found.length === max) break;
    if (nameOf(item).toLowerCase().includes(wanted)) found.push(item);
  }
  return found;
}
