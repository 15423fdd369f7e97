import { ERROR_DOCS_PATH } from '@model-gateway/http';

/** The paths of the API documentation, besides the page of error codes. */
export const DOCS_PATHS = {
  rest: '/docs',
  restDescription: '/openapi.json',
  rpc: '/docs/rpc',
  rpcDescription: '/docs/rpc.json',
  viewer: '/docs/viewer',
} as const;

interface ViewerPage {
  readonly title: string;
  /** The path of this page. */
  readonly path: string;
  /** The path of the OpenAPI description that it shows. */
  readonly description: string;
  /** Which operations are visible at first: all of them, or only the names of their groups. */
  readonly expansion: 'list' | 'none';
}

const LINKS = [
  { path: DOCS_PATHS.rest, text: 'REST API' },
  { path: DOCS_PATHS.rpc, text: 'JSON-RPC API' },
  { path: ERROR_DOCS_PATH, text: 'Error codes' },
];

// Overrides of the viewer's own styles have its class in front.
const STYLE = `
  :root { color-scheme: light; --page: #fff; --text: #1b1f24; --line: #d0d7de; }
  :root.dark-mode { color-scheme: dark; --page: #1c2022; --text: #e6e8ea; --line: #3c4348; }
  body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
  nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline; max-width: 1460px; margin: 0 auto; padding: .75rem 20px; border-bottom: 1px solid var(--line); }
  nav a { color: inherit; }
  nav a[aria-current] { font-weight: 700; text-decoration: none; }
  .swagger-ui .info { margin: 1.5rem 0; }
  .swagger-ui .scheme-container { padding: 1rem 0; }
  .swagger-ui .response-col_links { display: none; }
  @media (max-width: 640px) {
    .swagger-ui .wrapper, .swagger-ui .scheme-container .schemes { padding: 0 10px; }
    .swagger-ui .responses-table, .swagger-ui .responses-table :is(tbody, tr, td), .swagger-ui .parameters, .swagger-ui .parameters :is(tbody, tr, td) { display: block; width: auto; padding-left: 0; }
    .swagger-ui :is(.responses-table, .parameters) thead { display: none; }
    .swagger-ui .responses-wrapper .responses-inner { padding: 10px; }
    .swagger-ui .opblock .opblock-summary-method { min-width: 64px; padding: 6px 4px; }
  }
  #problem { max-width: 1460px; margin: 2rem auto; padding: 0 20px; }
`;

// Everything that a person enters, the credentials too, stays in the memory of the page.
const SCRIPT = `
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', followScheme);
  followScheme();
  const { description, expansion } = document.getElementById('viewer').dataset;
  const show = async () => {
    const response = await fetch(description);
    if (!response.ok) throw new Error('HTTP ' + response.status);
    // The page may call only the address that it came from.
    const { servers, ...spec } = await response.json();
    SwaggerUIBundle({
      spec,
      dom_id: '#viewer',
      deepLinking: true,
      docExpansion: expansion,
      defaultModelsExpandDepth: -1,
      filter: true,
      persistAuthorization: false,
      tryItOutEnabled: true,
      validatorUrl: null,
      requestInterceptor: (request) => {
        request.url = request.url.replace(/#.*$/, '');
        return request;
      },
    });
  };
  show().catch((error) => {
    document.getElementById('problem').textContent = description + ' could not be shown: ' + error.message;
  });
`;

/** A page on which every operation of a description can be tried; it loads nothing from other hosts. */
export function viewerPage({ title, path, description, expansion }: ViewerPage): string {
  const links = LINKS.map(
    (link) =>
      `<a href="${link.path}"${link.path === path ? ' aria-current="page"' : ''}>${link.text}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${DOCS_PATHS.viewer}/swagger-ui.css">
<style>${STYLE}</style>
</head>
<body>
<nav>${links.join('')}<a href="${description}">${description.slice(1)}</a></nav>
<main id="viewer" data-description="${description}" data-expansion="${expansion}"></main>
<p id="problem" role="alert"></p>
<script src="${DOCS_PATHS.viewer}/swagger-ui-bundle.js"></script>
<script>${SCRIPT}</script>
</body>
</html>
`;
}
