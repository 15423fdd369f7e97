/** The page at `/docs`: renders `/openapi.json` and loads nothing from other hosts. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Model Gateway API</title>
<style>
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: .5rem 1rem; }
  summary { cursor: pointer; }
  code, pre { font: 13px/1.45 ui-monospace, monospace; }
  pre { overflow-x: auto; border-top: 1px solid var(--line); padding-top: .5rem; }
  .method { display: inline-block; min-width: 4rem; font-weight: 700; text-transform: uppercase; }
  .auth { opacity: .7; }
</style>
</head>
<body>
<h1 id="title">Model Gateway API</h1>
<p id="about"></p>
<main id="operations" aria-busy="true">Loading…</main>
<p><a href="/docs/errors">Error codes</a> · <a href="/openapi.json">openapi.json</a></p>
<script>
const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className !== undefined) made.className = className;
  return made;
};
const schemaOf = (holder) => holder?.content?.['application/json']?.schema;
const show = (title, schema) => {
  const box = document.createDocumentFragment();
  if (schema === undefined) return box;
  box.append(element('h4', title), element('pre', JSON.stringify(schema, null, 2)));
  return box;
};
fetch('/openapi.json').then((response) => response.json()).then((api) => {
  document.getElementById('title').textContent = api.info.title + ' ' + api.info.version;
  document.getElementById('about').textContent = api.info.description;
  const list = document.getElementById('operations');
  list.replaceChildren();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const entry = element('details');
      const head = element('summary');
      const auth = operation.security.map((one) => Object.keys(one).join()).join(' or ') || 'public';
      head.append(element('span', method, 'method'), element('code', path), ' ', operation.summary, ' ',
        element('span', '(' + auth + ')', 'auth'));
      entry.append(head, show('Request body', schemaOf(operation.requestBody)),
        show('Response', schemaOf(operation.responses['200'])));
      list.append(entry);
    }
  }
}).catch((error) => {
  document.getElementById('operations').textContent = 'openapi.json could not be loaded: ' + error.message;
}).finally(() => document.getElementById('operations').removeAttribute('aria-busy'));
</script>
</body>
</html>
`;
