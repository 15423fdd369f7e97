import { z } from 'zod';
import { boundedArray } from '../bounded-array.ts';

/** The version of the HTTP tunnel; a node that supports it sends it in its hello. */
export const HTTP_TUNNEL_VERSION = 1;

const HEADERS_MAX = 1_000;
const headers = boundedArray(z.tuple([z.string(), z.string()]), { max: HEADERS_MAX });

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
  status: z.int().min(200).max(599),
  headers,
});

export type TunneledRequest = z.output<typeof tunneledRequestSchema>;
export type TunneledResponse = z.output<typeof tunneledResponseSchema>;
