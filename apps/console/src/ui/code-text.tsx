/** A text of the service whose `names` between backticks are code. */
export function CodeText({ text }: { readonly text: string }) {
  // Every second part is between backticks.
  return text
    .split('`')
    .map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part));
}
