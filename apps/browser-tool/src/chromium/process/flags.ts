import type { Viewport } from '../../engine.ts';

interface FlagOptions {
  readonly sandbox: boolean;
  readonly viewport: Viewport;
  readonly proxyServer: string | undefined;
  /** Empty allows all. */
  readonly allowedOrigins: readonly string[];
}

const FEATURES_OFF = [
  // A document that is restored from this cache would keep its old refs.
  'BackForwardCache',
  'DialMediaRouteProvider',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'Translate',
  // Suggestions below the address bar, which a browser without a window never shows. Each start loaded two pages for them,
  // and spent more CPU on them than on everything else.
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
].join(',');

/** Otherwise WebRTC would send to any host, past the rules and the proxy. Chromium reads the first, its headless shell the second. */
const WEBRTC_FLAGS = [
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

/** The flags of Chromium: no window, no traffic of its own, and it ends with the tool. */
export function chromiumFlags({
  sandbox,
  viewport,
  proxyServer,
  allowedOrigins,
}: FlagOptions): readonly string[] {
  return [
    '--headless',
    // Instead of a port, which every local user and every page could connect to. The browser ends when the pipe closes.
    '--remote-debugging-pipe',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-background-networking',
    '--disable-component-update',
    // Some components are fetched anyway; this URL makes it fail.
    '--component-updater=url-source=about:blank',
    // The request for the user's accounts cannot be disabled. Browsers block this port, so nothing is sent.
    '--gaia-url=http://localhost:9',
    '--disable-default-apps',
    '--disable-sync',
    '--disable-extensions',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-client-side-phishing-detection',
    '--disable-domain-reliability',
    '--disable-hang-monitor',
    '--disable-prompt-on-repost',
    '--disable-backgrounding-occluded-windows',
    '--disable-background-timer-throttling',
    '--disable-renderer-backgrounding',
    '--disable-dev-shm-usage',
    '--disable-search-engine-choice-screen',
    '--metrics-recording-only',
    '--mute-audio',
    '--password-store=basic',
    '--use-mock-keychain',
    '--hide-scrollbars',
    `--disable-features=${FEATURES_OFF}`,
    `--window-size=${viewport.join(',')}`,
    ...(sandbox ? [] : ['--no-sandbox']),
    ...(proxyServer === undefined
      ? []
      : [`--proxy-server=${proxyServer}`, '--proxy-bypass-list=<-loopback>']),
    ...(allowedOrigins.length === 0 ? [] : [hostRules(allowedOrigins, proxyServer)]),
    ...(allowedOrigins.length === 0 && proxyServer === undefined ? [] : WEBRTC_FLAGS),
  ];
}

const SOCKS_PORT = '1080';
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The request rules miss WebSockets, prefetches, and shared and service workers, so other hosts do not resolve at all, and neither do
 * other ports of the same hosts: the first rule that matches counts.
 */
function hostRules(allowedOrigins: readonly string[], proxyServer: string | undefined): string {
  const urls = [...allowedOrigins, ...(proxyServer === undefined ? [] : [proxyServer])];
  const places = urls.map((url) => {
    const { hostname, port, protocol } = new URL(url);
    return `${hostname}:${port || (DEFAULT_PORTS[protocol] ?? SOCKS_PORT)}`;
  });
  const kept = [...new Set(places)].map((place) => `MAP ${place} ${place}`);
  return `--host-resolver-rules=${[...kept, 'MAP * ~NOTFOUND'].join(', ')}`;
}
