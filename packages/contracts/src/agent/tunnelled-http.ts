import { z } from 'zod';

/** The version of the HTTP tunnel; a node that can do it says so in its hello. */
export const HTTP_TUNNEL_VERSION = 1;

const headers = z.array(z.tuple([z.string(), z.string()]));

/** The head of an HTTP request to a model on a node. */
export const tunnelledRequestSchema = z.object({
  /** Which of the models that the node runs is asked. */
  model_id: z.string(),
  method: z.string().regex(/^[A-Z]{1,16}$/),
  /** With the query. */
  path: z.string().startsWith('/'),
  headers,
});

/** The head of the answer. */
export const tunnelledResponseSchema = z.object({
  status: z.int().min(100).max(599),
  headers,
});

export type TunnelledRequest = z.output<typeof tunnelledRequestSchema>;
export type TunnelledResponse = z.output<typeof tunnelledResponseSchema>;
