/** Properties whose values differ between runs. */
const CHANGING = new Set([
  'browser_pid',
  'browser_version',
  'bytes',
  'closed_at_ms',
  'created_at_ms',
  'debug_port',
  'duration',
  'duration_ms',
  'elapsed_ms',
  'executable',
  'pid',
  'sandbox',
  'seq',
  'next',
  'since',
  'stack',
  'started_at',
  'started_at_iso',
  'timestamp',
  'uptime_secs',
]);
const SESSION_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Replaces what differs between runs: times, ports, processes, the bytes of images. Refs are numbered by their first appearance. */
export function createSteady(ports: Readonly<Record<string, number>>) {
  const refs = new Map<string, string>();

  function text(value: string): string {
    let shown = value;
    for (const [name, port] of Object.entries(ports)) shown = shown.replaceAll(String(port), name);
    return shown
      .replaceAll(SESSION_ID, 'SESSION')
      .replace(/image\/(\w+), \d+ KB/g, 'image/$1, N KB')
      .replace(/\b[rw]\d+\b/g, 'ID')
      .replace(/\be[1-9]\d{0,9}\b/g, (ref) => {
        const known = refs.get(ref) ?? `#${refs.size + 1}`;
        refs.set(ref, known);
        return known;
      });
  }

  return function steady(value: unknown, name = ''): unknown {
    if (CHANGING.has(name) && value !== null) return `<${name}>`;
    if (typeof value === 'string') {
      const isImage = name === 'data' && value.length > 100;
      return isImage ? '<image>' : text(value);
    }
    if (Array.isArray(value)) return value.map((each) => steady(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, steady(each, key)]));
  };
}
