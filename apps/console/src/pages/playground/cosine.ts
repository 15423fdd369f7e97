/** How alike two vectors are: 1 for the same direction, 0 for unrelated ones. */
export function cosine(one: readonly number[], other: readonly number[]): number {
  let product = 0;
  let ownSquares = 0;
  let otherSquares = 0;
  one.forEach((value, place) => {
    const beside = other[place] ?? 0;
    product += value * beside;
    ownSquares += value * value;
    otherSquares += beside * beside;
  });
  const length = Math.sqrt(ownSquares * otherSquares);
  return length === 0 ? 0 : product / length;
}
