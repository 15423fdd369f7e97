const CHARS_MAX = 2_000;

/** A URL in text for a model. The URL of a `data:` page contains the whole page. */
export function addressText(url: unknown): string {
  const text = String(url);
  return text.length <= CHARS_MAX ? text : `${text.slice(0, CHARS_MAX)}…`;
}
