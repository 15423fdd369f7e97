import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { infraFolder } from '../infra-folder.ts';

const read = (...path: readonly string[]): string =>
  readFileSync(join(infraFolder, ...path), 'utf8');

const dashboardSchema = z.object({
  uid: z.string(),
  title: z.string(),
  schemaVersion: z.int(),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  panels: z.array(
    z.object({
      id: z.int(),
      type: z.string(),
      title: z.string(),
      gridPos: z.object({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
      targets: z
        .array(
          z.object({
            expr: z.string(),
            datasource: z.object({
              type: z.literal('prometheus'),
              uid: z.literal('${datasource}'),
            }),
          }),
        )
        .default([]),
    }),
  ),
});

const rulesSchema = z.object({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^ModelGateway[A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[mh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
          annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});

/** The dashboard of Grafana. */
export const readDashboard = () =>
  dashboardSchema.parse(JSON.parse(read('grafana', 'dashboard.json')));

/** The alerts of Prometheus. */
export const readAlerts = () =>
  rulesSchema.parse(parse(read('grafana', 'alerts.yaml'))).groups.flatMap(({ rules }) => rules);

/** Replaces Grafana's variables in an expression. */
export const withoutVariables = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*');

/** A metric as the operations page describes it. */
export interface DescribedMetric {
  readonly name: string;
  readonly kind: string;
  readonly labels: readonly string[];
}

const METRIC_ROW = /^\| `(service_\w+)` +\| (\w+) +\| (.*?) *\|/gm;

/** The metrics that the operations page lists. */
export const describedMetrics = (): readonly DescribedMetric[] =>
  [...operationsPage().matchAll(METRIC_ROW)].map(([, name = '', kind = '', labels = '']) => ({
    name,
    kind,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
  }));

/** The text of the operations page. */
export const operationsPage = (): string => read('..', 'docs', 'operations.md');
