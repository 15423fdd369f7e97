import { ERROR_HELP, RPC_ERROR_CODES, type ErrorCode } from '@model-gateway/contracts';
import { errorAnchor, REST_ERRORS } from '@model-gateway/http';

/** The page at `/docs/errors`: every error code of the service, with cause and remedy. */
export function errorsPage(): string {
  const rows = (Object.keys(ERROR_HELP) as ErrorCode[]).map(rowOf);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Error codes of Model Gateway</title>
<style>
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { border-bottom: 1px solid var(--line); padding: .4rem .8rem .4rem 0; text-align: left; vertical-align: top; }
  code { font: 13px/1.45 ui-monospace, monospace; }
  tr:target { background: color-mix(in srgb, Highlight 25%, transparent); }
</style>
</head>
<body>
<h1>Error codes</h1>
<p>On the HTTP surfaces an error is <code>error.code</code> with the status beside it; on <code>/api/rpc</code> it is the number in <code>error.code</code>.</p>
<table>
<thead><tr><th>HTTP</th><th>Code</th><th>RPC</th><th>Cause</th><th>What to do</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
<p><a href="/docs">API documentation</a></p>
</body>
</html>
`;
}

function rowOf(name: ErrorCode): string {
  const { status, code } = REST_ERRORS[name];
  const { cause, remedy } = ERROR_HELP[name];
  return `<tr id="${errorAnchor(name)}"><td>${status}</td><td><code>${code}</code></td><td><code>${RPC_ERROR_CODES[name]}</code></td><td>${html(cause)}</td><td>${html(remedy)}</td></tr>`;
}

/** Text with `code` in backquotes. */
const html = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>');
