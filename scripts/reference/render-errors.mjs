// Renders every error of the service as one table: the error reference.

/**
 * @param {Readonly<Record<string, { readonly cause: string, readonly remedy: string }>>} help
 * @param {Readonly<Record<string, { readonly status: number, readonly code: string }>>} rest
 * @param {Readonly<Record<string, number>>} rpc
 * @returns {string}
 */
export function renderErrors(help, rest, rpc) {
  const rows = Object.entries(help).map(
    ([name, { cause, remedy }]) =>
      `| ${rest[name].status} | \`${rest[name].code}\` | ${rpc[name]} | ${cause} | ${remedy} |`,
  );
  return [
    '# Error reference',
    '',
    'Generated from the code by `node scripts/reference.mjs`; do not edit. On the HTTP surfaces an error is',
    '`error.code` with the status beside it; on `/api/rpc` it is the number in `error.code`. A running',
    'service has the same table at `/docs/errors`, and with `SERVICE_PUBLIC_URL` every error on the HTTP',
    'surfaces names its row in `error.doc`.',
    '',
    '| HTTP | Code | RPC | Cause | What to do |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
