/** Merges two objects and keeps their getters, which a spread would evaluate. */
export function extend<Base extends object, Extra extends object>(
  base: Base,
  extra: Extra,
): Base & Extra {
  return Object.defineProperties(Object.assign({}, base, extra), {
    ...Object.getOwnPropertyDescriptors(base),
    ...Object.getOwnPropertyDescriptors(extra),
  });
}
