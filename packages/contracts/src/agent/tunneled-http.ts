import { z } from 'zod';

/** The version of the HTTP tunnel; a node that supports it sends it in its hello. */
export const HTTP_TUNNEL_VERSION = 1;

const headers = z.array(z.tuple([z.string(), z.string()]));

/** The head of an HTTP request to a model on a node. */
export const tunneledRequestSchema = z.object({
  /** The model on the node that the request is for. */
  model_id: z.string(),
  method: z.string().regex(/^[A-Z]{1,16}$/),
  /** Includes the query. */
  path: z.string().startsWith('/'),
  headers,
});

/** The head of the response. */
export const tunneledResponseSchema = z.object({
  status: z.int().min(100).max(599),
  headers,
});

export type TunneledRequest = z.output<typeof tunneledRequestSchema>;
export type TunneledResponse = z.output<typeof tunneledResponseSchema>;
