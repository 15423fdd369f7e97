// Renders the settings of every process as one table: the configuration reference.

/**
 * @typedef {{ env: string, description: string, defaultText?: string, requiredInProduction?: boolean }} Setting
 * @param {readonly { readonly name: string, readonly settings: Readonly<Record<string, Setting>> }[]} processes
 * @returns {string}
 */
export function renderConfiguration(processes) {
  const rows = new Map();
  for (const { name, settings } of processes) {
    for (const setting of Object.values(settings)) {
      const row = rows.get(setting.env) ?? {
        description: setting.description,
        defaults: new Map(),
      };
      const shown = setting.defaultText ?? 'required';
      row.defaults.set(shown, [...(row.defaults.get(shown) ?? []), name]);
      rows.set(setting.env, row);
    }
  }
  const lines = [...rows]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([env, row]) => {
      const users = [...new Set([...row.defaults.values()].flat())].join(', ');
      return `| \`${env}\` | ${defaultsOf(row.defaults)} | ${row.description} | ${users} |`;
    });
  return [
    '# Configuration reference',
    '',
    'Generated from the code by `node scripts/reference.mjs`; do not edit. A process reads its variables once, at',
    'start, and reports every problem in one message. A blank variable counts as unset.',
    '',
    '| Variable | Default | Meaning | Read by |',
    '|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

function defaultsOf(defaults) {
  if (defaults.size === 1) return [...defaults.keys()][0];
  return [...defaults].map(([text, names]) => `${text} (${names.join(', ')})`).join('; ');
}
