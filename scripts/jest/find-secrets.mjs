// Searches texts for secrets.

/** Secrets of one kind have the same beginning, but not the same end. */
const END_CHARS = 8;
const FINDINGS_MAX = 20;

/** Where secrets were found, as `<kind> in <source>`; never the secrets themselves. */
export function findSecrets(secrets, texts) {
  const byEnd = new Map();
  const filter = new Uint8Array(2 ** 16);
  for (const [value, kind] of secrets) {
    const end = value.slice(-END_CHARS);
    byEnd.set(end, [...(byEnd.get(end) ?? []), { value, kind }]);
    filter[hashAt(end, END_CHARS)] = 1;
  }
  const findings = new Set();
  for (const { source, text } of texts) {
    for (const kind of kindsIn(text, byEnd, filter)) findings.add(`${kind} in ${source}`);
    if (findings.size >= FINDINGS_MAX) break;
  }
  return [...findings];
}

/** One pass over a text, whatever the number of secrets; the filter excludes nearly every place at once. */
function kindsIn(text, byEnd, filter) {
  const kinds = new Set();
  for (let end = END_CHARS; end <= text.length; end += 1) {
    if (filter[hashAt(text, end)] === 0) continue;
    for (const { kind, value } of byEnd.get(text.slice(end - END_CHARS, end)) ?? [])
      if (text.endsWith(value, end)) kinds.add(kind);
  }
  return kinds;
}

/** Of the three characters before a place. */
const hashAt = (text, end) =>
  ((text.charCodeAt(end - 3) << 10) ^ (text.charCodeAt(end - 2) << 5) ^ text.charCodeAt(end - 1)) &
  0xffff;
