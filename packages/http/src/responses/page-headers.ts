import { createHash } from 'node:crypto';

const INLINE = /<(script|style)>([\s\S]*?)<\/\1>/g;

interface PageOptions {
  /** Whether the page also loads scripts and styles from this service, and has images in its styles. */
  readonly hasFiles?: boolean;
}

/** The headers of a page that runs only its own scripts and styles, and shows itself in no frame. */
export function pageHeaders(
  html: string,
  { hasFiles = false }: PageOptions = {},
): Readonly<Record<string, string>> {
  const files = hasFiles ? ["'self'"] : [];
  const sources: Record<string, string[]> = { script: [...files], style: [...files] };
  for (const [, kind = '', text = ''] of html.matchAll(INLINE)) {
    const hash = createHash('sha256').update(text).digest('base64');
    sources[kind]?.push(`'sha256-${hash}'`);
  }
  const policy = [
    "default-src 'none'",
    `script-src ${sources['script']?.join(' ') || "'none'"}`,
    `style-src ${sources['style']?.join(' ') || "'none'"}`,
    "connect-src 'self'",
    hasFiles ? "img-src 'self' data:" : "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
}
