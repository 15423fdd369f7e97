/** A user name and password for a proxy. */
export interface ProxyLogin {
  readonly username: string;
  readonly password: string;
}

/** The user name and password in a proxy's URL, which Chromium does not accept there. */
export function proxyLogin(proxy: string): ProxyLogin | undefined {
  const { username, password } = new URL(proxy);
  if (username === '' && password === '') return undefined;
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}
