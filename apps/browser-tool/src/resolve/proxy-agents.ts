import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';

/** The agents for got: one for http and one for https. */
export interface ProxyAgents {
  readonly http: HttpProxyAgent<string> | SocksProxyAgent;
  readonly https: HttpsProxyAgent<string> | SocksProxyAgent;
}

/** Agents for an `http://`, `https://` or `socks5://` proxy. They send the user name and password of the URL. */
export function proxyAgents(proxy: string): ProxyAgents {
  if (new URL(proxy).protocol === 'socks5:') {
    // The proxy resolves names, as for a browser: this machine may have no access to external DNS.
    const agent = new SocksProxyAgent(proxy.replace(/^socks5:/i, 'socks5h:'));
    return { http: agent, https: agent };
  }
  // Many proxies allow CONNECT only to port 443, so an http mirror is requested by its full URL.
  return { http: new HttpProxyAgent(proxy), https: new HttpsProxyAgent(proxy) };
}
