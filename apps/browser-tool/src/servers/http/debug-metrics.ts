import type { Request, Response } from 'express';
import { createMetrics, type Metrics } from '@model-gateway/kernel';
import type { BrowserSession } from '../../session/browser-session.ts';

/** The metrics of the debug server. */
export interface DebugMetrics extends Pick<Metrics, 'contentType'> {
  /** Measures a request until it ends. */
  track(request: Request, response: Response): void;
  /** The text for Prometheus. */
  expose(): Promise<string>;
}

const METHODS = ['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS'];
const OTHER = 'other';
const MS_PER_SECOND = 1_000;
const DURATION_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Creates the metrics; reading them sends nothing to the browser. */
export function createDebugMetrics(session: Pick<BrowserSession, 'status'>): DebugMetrics {
  const metrics = createMetrics();
  const requests = metrics.counter({
    name: 'browser_http_requests_total',
    help: 'HTTP requests by route, method and class of status; gone: the client disconnected before the response started.',
    labels: ['route', 'method', 'status'],
  });
  const durations = metrics.histogram({
    name: 'browser_http_request_duration_seconds',
    help: 'Duration of HTTP requests until the last byte of the response.',
    labels: ['route'],
    buckets: DURATION_SECONDS,
  });
  const updateBrowserMetrics = addBrowserMetrics(session, metrics);
  return {
    contentType: metrics.contentType,
    track(request, response) {
      const startedAt = performance.now();
      response.once('close', () => {
        const route = routeOf(request);
        durations.series({ route }).observe((performance.now() - startedAt) / MS_PER_SECOND);
        const { method } = request;
        requests
          .series({
            route,
            method: METHODS.includes(method) ? method : OTHER,
            status: response.headersSent ? `${Math.floor(response.statusCode / 100)}xx` : 'gone',
          })
          .inc();
      });
    },
    expose() {
      updateBrowserMetrics();
      return metrics.expose();
    },
  };
}

/** The route template of a request; requests that fail the access check have none. */
function routeOf(request: Request): string {
  // Express declares it as any, and it is undefined until a route matches.
  const route = request.route as { readonly path: string } | undefined;
  return route?.path ?? OTHER;
}

/** Adds the browser's metrics. The session counts by itself, so that MCP needs no metrics. */
function addBrowserMetrics(session: Pick<BrowserSession, 'status'>, metrics: Metrics): () => void {
  metrics.gauge({
    name: 'browser_up',
    help: 'Whether a browser is running; a command starts one if there is none.',
    collect: (gauge) => gauge.set(session.status().engine === undefined ? 0 : 1),
  });
  const launches = metrics
    .counter({ name: 'browser_launches_total', help: 'Browsers started.' })
    .series({});
  const crashes = metrics
    .counter({
      name: 'browser_crashes_total',
      help: 'Browsers that ended unexpectedly.',
    })
    .series({});
  let seen = { launches: 0, crashes: 0 };
  return () => {
    const now = session.status();
    launches.inc(now.launches - seen.launches);
    crashes.inc(now.crashes - seen.crashes);
    seen = now;
  };
}
