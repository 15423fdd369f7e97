import { createHash } from 'node:crypto';

const INLINE = /<(script|style)>([\s\S]*?)<\/\1>/g;

/** The headers of a page that runs only its own inline scripts and styles, and shows itself in no frame. */
export function pageHeaders(html: string): Readonly<Record<string, string>> {
  const hashes: Record<string, string[]> = { script: [], style: [] };
  for (const [, kind = '', text = ''] of html.matchAll(INLINE)) {
    const hash = createHash('sha256').update(text).digest('base64');
    hashes[kind]?.push(`'sha256-${hash}'`);
  }
  const policy = [
    "default-src 'none'",
    `script-src ${hashes['script']?.join(' ') || "'none'"}`,
    `style-src ${hashes['style']?.join(' ') || "'none'"}`,
    "connect-src 'self'",
    "img-src 'self'",
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
