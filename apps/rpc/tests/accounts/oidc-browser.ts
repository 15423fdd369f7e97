/** A browser that keeps cookies by host and follows redirects. */
export interface TestBrowser {
  /** Follows redirects until an answer is none, or leads to a path in `stopAt`. */
  visit(url: string, options?: VisitOptions): Promise<Visit>;
  /** Sends a form; where it leads. */
  post(url: string, form: Readonly<Record<string, string>>): Promise<string | null>;
  /** The `Set-Cookie` headers of the last visit. */
  readonly setCookies: readonly string[];
  readonly cookies: Map<string, string>;
  /** The `Cookie` header for a host. */
  cookieHeader(host: string): string;
}

interface VisitOptions {
  readonly accept?: string;
  readonly stopAt?: (url: URL) => boolean;
}

export interface Visit {
  readonly status: number;
  /** Where the redirects ended. */
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
}

const REDIRECTS_MAX = 10;

export function openBrowser(): TestBrowser {
  const cookies = new Map<string, string>();
  const setCookies: string[] = [];

  function keep(host: string, header: string): void {
    setCookies.push(header);
    const [pair = ''] = header.split(';');
    const at = pair.indexOf('=');
    const name = `${host} ${pair.slice(0, at)}`;
    if (pair.slice(at + 1) === '' || /max-age=0/i.test(header)) cookies.delete(name);
    else cookies.set(name, pair.slice(at + 1));
  }

  const cookiesOf = (host: string): string =>
    [...cookies]
      .filter(([name]) => name.startsWith(`${host} `))
      .map(([name, value]) => `${name.slice(host.length + 1)}=${value}`)
      .join('; ');

  return {
    cookies,
    setCookies,
    cookieHeader: cookiesOf,
    async post(url, form) {
      const { host } = new URL(url);
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: cookiesOf(host) },
        body: new URLSearchParams(form),
      });
      for (const header of response.headers.getSetCookie()) keep(host, header);
      return response.headers.get('location');
    },
    async visit(start, { accept = 'text/html,*/*', stopAt = () => false } = {}) {
      setCookies.length = 0;
      let url = new URL(start);
      for (let step = 0; step < REDIRECTS_MAX; step += 1) {
        const response = await fetch(url, {
          redirect: 'manual',
          headers: { accept, cookie: cookiesOf(url.host) },
        });
        for (const header of response.headers.getSetCookie()) keep(url.host, header);
        const text = await response.text();
        const location = response.headers.get('location');
        const { status, headers } = response;
        if (location === null) return { status, url, headers, text };
        url = new URL(location, url);
        if (stopAt(url)) return { status, url, headers, text };
      }
      throw new Error(`more than ${REDIRECTS_MAX} redirects`);
    },
  };
}
