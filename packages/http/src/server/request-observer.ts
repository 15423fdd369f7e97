import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CounterSeries,
  type HistogramSeries,
  type Log,
  type Metrics,
  perName,
  type Span,
  type Tracing,
} from '@model-gateway/kernel';
import { PROBE_PATHS } from './probes.ts';
import { identify, requestIdOf } from '../requests/request-id.ts';
import { pathOf } from './server-app.ts';

interface RequestObserverOptions {
  /** The paths that the app serves. */
  readonly routes: readonly string[];
  readonly leanPaths?: ReadonlySet<string> | undefined;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly log: Log;
  /** Called when a request has ended, with or without success. */
  readonly onClose: (response: ServerResponse) => void;
}

/** Runs the handler of a request and records how it ends: a counter, a duration, a log line and optionally a span. */
export type RequestObserver = (
  request: IncomingMessage,
  response: ServerResponse,
  handle: () => void,
) => void;

/** The metrics of one route. */
interface RouteCounts {
  readonly duration: HistogramSeries;
  /** By method and class of status. */
  readonly responses: (method: string, status: number) => CounterSeries;
}

const ROUTES_MAX = 200;
const MS_PER_SECOND = 1_000;
const DURATION_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'];
const SERVER_ERROR = 500;

export function createRequestObserver(options: RequestObserverOptions): RequestObserver {
  const { routes, leanPaths, metrics, tracing, log, onClose } = options;
  const routeOf = createRouteNames(routes, PROBE_PATHS);
  const countsOf = createCounts(metrics);
  let inFlight = 0;
  metrics.gauge({
    name: 'service_http_requests_in_flight',
    help: 'HTTP requests in flight.',
    collect: (gauge) => gauge.set(inFlight),
  });

  return (request, response, handle) => {
    const startedAt = performance.now();
    const path = pathOf(request);
    const route = routeOf(path);
    const { method = '' } = request;
    const isLean = leanPaths?.has(path) === true;
    const requestId = isLean ? identify(request, response) : requestIdOf(request, response);
    const span = tracing === undefined ? undefined : beginSpan(tracing, request, route);
    inFlight += 1;
    // The event fires once; `once` would cost one more function.
    response.on('close', () => {
      inFlight -= 1;
      onClose(response);
      const durationMs = performance.now() - startedAt;
      const status = response.headersSent ? response.statusCode : 0;
      const counts = countsOf(route.name);
      counts.duration.observe(durationMs / MS_PER_SECOND);
      counts.responses(method, status).inc();
      const traceId = span?.traceId;
      log.request({
        requestId,
        method,
        route: route.name,
        status,
        durationMs,
        traceId,
        isProbe: route.isProbe,
      });
      if (span !== undefined) endSpan(span, status);
    });
    if (span === undefined) handle();
    else span.run(handle);
  };
}

function createCounts(metrics: Metrics): (route: string) => RouteCounts {
  const requests = metrics.counter({
    name: 'service_http_requests_total',
    help: 'HTTP requests by route, method and status class; gone: the client disconnected before a response began.',
    labels: ['route', 'method', 'status'],
  });
  const durations = metrics.histogram({
    name: 'service_http_request_duration_seconds',
    help: 'Duration of HTTP requests in seconds, up to the last byte.',
    labels: ['route'],
    buckets: DURATION_SECONDS,
  });
  return perName(ROUTES_MAX, (route) => {
    // Keyed by a number, so that no text has to be built per request.
    const known = new Map<number, CounterSeries>();
    return {
      duration: durations.series({ route }),
      responses(method, status) {
        const methodIndex = METHODS.indexOf(method);
        const statusClass = Math.floor(status / 100);
        const at = methodIndex * 10 + statusClass;
        const existing = known.get(at);
        if (existing !== undefined) return existing;
        const series = requests.series({
          route,
          method: METHODS[methodIndex] ?? 'other',
          status: statusClass === 0 ? 'gone' : `${statusClass}xx`,
        });
        known.set(at, series);
        return series;
      },
    };
  });
}

/** Probes get no span: they are frequent and of no interest in traces. */
function beginSpan(tracing: Tracing, request: IncomingMessage, route: RouteName): Span | undefined {
  if (route.isProbe) return undefined;
  const method = request.method ?? 'GET';
  return tracing.begin({
    name: `${method} ${route.name}`,
    kind: 'server',
    attributes: { 'http.request.method': method, 'http.route': route.name },
    headers: request.headers,
  });
}

function endSpan(span: Span, status: number): void {
  if (status === 0) {
    span.end('client_gone');
    return;
  }
  span.set({ 'http.response.status_code': status });
  if (status >= SERVER_ERROR) span.end(String(status));
  else span.end();
}

/** The name of a path in metrics and logs, from a small fixed set. */
export interface RouteName {
  readonly name: string;
  /** Whether orchestrators and monitors request it. */
  readonly isProbe: boolean;
}

const OTHER: RouteName = { name: 'other', isProbe: false };

/**
 * Finds the name of a path. The route `/v1/models/{id}` matches everything below `/v1/models/`.
 */
export function createRouteNames(
  routes: readonly string[],
  probes: Iterable<string>,
): (path: string) => RouteName {
  const exact = new Map<string, RouteName>();
  const below: { readonly prefix: string; readonly route: RouteName }[] = [];
  for (const name of routes) {
    const brace = name.indexOf('{');
    const route = { name, isProbe: false };
    if (brace === -1) exact.set(name, route);
    else below.push({ prefix: name.slice(0, brace), route });
  }
  for (const name of probes) exact.set(name, { name, isProbe: true });
  return (path) => {
    const known = exact.get(path);
    if (known !== undefined) return known;
    for (const { prefix, route } of below) if (path.startsWith(prefix)) return route;
    return OTHER;
  };
}
