import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';

/** What got takes: an agent for plain requests and one for TLS. */
export interface ProxyAgents {
  readonly http: HttpProxyAgent<string> | SocksProxyAgent;
  readonly https: HttpsProxyAgent<string> | SocksProxyAgent;
}

/** Agents for an `http://`, `https://` or `socks5://` proxy. User and password in the URL are sent to it. */
export function proxyAgents(proxy: string): ProxyAgents {
  if (new URL(proxy).protocol === 'socks5:') {
    // The proxy looks names up, as it does for a browser: the machine itself may see no outside names at all.
    const agent = new SocksProxyAgent(proxy.replace(/^socks5:/i, 'socks5h:'));
    return { http: agent, https: agent };
  }
  // Many proxies let CONNECT through to port 443 alone, so a plain mirror is asked for by its whole URL.
  return { http: new HttpProxyAgent(proxy), https: new HttpsProxyAgent(proxy) };
}
