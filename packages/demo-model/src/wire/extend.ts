/** Both objects in one, with their getters alive; a mere spread would freeze the counts of this moment. */
export function extend<Base extends object, Extra extends object>(
  base: Base,
  extra: Extra,
): Base & Extra {
  return Object.defineProperties(Object.assign({}, base, extra), {
    ...Object.getOwnPropertyDescriptors(base),
    ...Object.getOwnPropertyDescriptors(extra),
  });
}
