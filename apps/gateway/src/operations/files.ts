import { rpcMethods } from '@model-gateway/contracts';
import { z } from 'zod';
import { operations } from './operation.ts';

const text = z.string();

/** Texts that every process has, or the one with the management plane. */
export const files = operations({
  getMetrics: {
    method: 'get',
    path: '/metrics',
    summary: 'Metrics in the text form of Prometheus; public where the service is not exposed.',
    security: ['adminToken'],
    response: text,
    responseType: 'text/plain',
  },
  downloadUsage: {
    method: 'get',
    path: '/api/usage.csv',
    summary: 'The groups of `usage.summary` as a file, for the same callers.',
    security: ['accessToken'],
    query: rpcMethods['usage.summary'].params,
    response: text,
    responseType: 'text/csv',
  },
});
