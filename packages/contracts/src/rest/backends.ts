import { z } from 'zod';

/** The body of `POST /api/admin/backends`. */
export const backendRequestSchema = z.object({
  type: z.string().min(1).max(64).default('local-server'),
  url: z.string().min(1).max(2048).default('http://localhost:11434'),
  api_key: z.string().max(4096).optional(),
  name: z.string().trim().min(1).max(64).optional(),
  models: z.array(z.string().min(1).max(128)).max(1000).default([]),
});

/** What registering a backend answers. */
export const backendRegisteredSchema = z.object({
  status: z.literal('ok'),
  message: z.literal('backend registered'),
  name: z.string(),
  type: z.string(),
  url: z.string(),
  index: z.int(),
});
