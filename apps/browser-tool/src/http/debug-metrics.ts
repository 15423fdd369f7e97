import type { Request, Response } from 'express';
import { createMetrics, type Metrics } from '@model-gateway/kernel';
import type { BrowserSession } from '../session/browser-session.ts';

/** What the debug server counts. */
export interface DebugMetrics extends Pick<Metrics, 'contentType'> {
  /** Follows a request to its end. */
  watch(request: Request, response: Response): void;
  /** The text that a scrape answers. */
  expose(): Promise<string>;
}

const METHODS = ['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS'];
const OTHER = 'other';
const MS_PER_SECOND = 1_000;
const DURATION_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Starts to count; nothing is asked of the browser for it. */
export function createDebugMetrics(session: Pick<BrowserSession, 'status'>): DebugMetrics {
  const metrics = createMetrics();
  const requests = metrics.counter({
    name: 'browser_http_requests_total',
    help: 'HTTP requests by route, method and class of status; gone: the client left before an answer began.',
    labels: ['route', 'method', 'status'],
  });
  const durations = metrics.histogram({
    name: 'browser_http_request_duration_seconds',
    help: 'How long HTTP requests took, to the last byte.',
    labels: ['route'],
    buckets: DURATION_SECONDS,
  });
  const updateBrowserMetrics = addBrowserMetrics(session, metrics);
  return {
    contentType: metrics.contentType,
    watch(request, response) {
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

/** The template of the route that a request came to; whoever was refused at the door came to none. */
function routeOf(request: Request): string {
  // Express says nothing about its type, and has none before a route was found.
  const route = request.route as { readonly path: string } | undefined;
  return route?.path ?? OTHER;
}

/** Shows how the browser fares. The session does its own counting, so that the other face needs no metrics. */
function addBrowserMetrics(session: Pick<BrowserSession, 'status'>, metrics: Metrics): () => void {
  metrics.gauge({
    name: 'browser_up',
    help: 'Whether there is a browser: one is started by the first command, and anew after a crash.',
    collect: (gauge) => gauge.set(session.status().engine === undefined ? 0 : 1),
  });
  const launches = metrics
    .counter({ name: 'browser_launches_total', help: 'Browsers that were started.' })
    .series({});
  const crashes = metrics
    .counter({
      name: 'browser_crashes_total',
      help: 'Browsers that ended without being told to.',
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
