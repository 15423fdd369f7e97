// Renders the page about troubleshooting: its text, and the tables that the messages of the service come from.

/** The errors that a newcomer meets; the error reference has all. */
const FREQUENT = [
  'authentication_required',
  'invalid_credentials',
  'admin_token_required',
  'invalid_json',
  'missing_fields',
  'model_not_allowed',
  'model_not_found',
  'request_too_large',
  'rate_limit_exceeded',
  'quota_reserved',
  'quota_exceeded',
  'payment_required',
  'all_backends_unhealthy',
  'upstream_auth',
  'bad_gateway',
  'store_unavailable',
];

/**
 * @typedef {Readonly<Record<string, { readonly says: string, readonly remedy: string }>>} Problems
 * @typedef {Readonly<Record<string, { readonly cause: string, readonly remedy: string }>>} Help
 * @param {string} text With a comment in place of each table.
 * @param {{
 *   readonly startProblems: Problems,
 *   readonly startupProblems: Problems,
 *   readonly errors: Help,
 *   readonly backends: Help,
 *   readonly rest: Readonly<Record<string, { readonly status: number, readonly code: string }>>,
 *   readonly rpc: Readonly<Record<string, number>>,
 * }} tables
 * @returns {string}
 */
export function renderTroubleshooting(text, tables) {
  const { startProblems, startupProblems, errors, backends, rest, rpc } = tables;
  return text
    .replace('<!-- start problems -->', () => problemTable(startProblems))
    .replace('<!-- startup problems -->', () => problemTable(startupProblems))
    .replace('<!-- errors -->', () => errorTable(errors, rest, rpc))
    .replace('<!-- backends -->', () => backendTable(backends));
}

function problemTable(problems) {
  return table(
    ['It says', 'What to do'],
    Object.values(problems).map(({ says, remedy }) => [`\`${elided(says)}\``, prose(remedy)]),
  );
}

function errorTable(errors, rest, rpc) {
  const rows = FREQUENT.map((name) => {
    const { status, code } = rest[name];
    const { cause, remedy } = errors[name];
    return [`${status} \`${code}\`, ${rpc[name]}`, cause, remedy];
  });
  return table(['Answer', 'Why', 'What to do'], rows);
}

function backendTable(backends) {
  const rows = Object.values(backends).map(({ cause, remedy }) => [cause, prose(remedy)]);
  return table(['Why', 'What to do'], rows).replaceAll('\n', '\n   ');
}

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const elided = (text) => text.replaceAll(/\{\w+\}/g, '…');

/** A remedy as it is printed, with the names of settings as code. */
const prose = (remedy) =>
  elided(remedy)
    .split('`')
    .map((part, index) =>
      index % 2 === 1
        ? `\`${part}\``
        : part.replaceAll(/\b(?:[A-Z]+_)+[A-Z]+\b(?:=\S+ npm start|=\d+)?|\bapi_key\b/g, '`$&`'),
    )
    .join('');
