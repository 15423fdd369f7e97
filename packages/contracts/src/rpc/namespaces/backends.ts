import { z } from 'zod';
import {
  backendAdditionSchema,
  backendChangeSchema,
  backendKindSchema,
  backendName,
  backendRegisteredSchema,
  backendTestRequestSchema,
  backendTestSchema,
  backendViewSchema,
} from '../../rest/backends.ts';
import { method } from '../method.ts';
import { done, listLimit, record } from './records.ts';

const oneBackend = z.object({ name: backendName });

const kind = record('BackendKind', backendKindSchema.shape);

const backend = record('Backend', backendViewSchema.shape);

/** A change that was made, and the result of the probe after it. */
const registered = backendRegisteredSchema.omit({ status: true, message: true });

export const backendsMethods = {
  'backends.list': method({
    auth: 'admin-or-admin-token',
    summary:
      'The backends in the order of their registration, without their keys, at most 1,000 at a time.',
    isExtension: true,
    params: z.object({
      after: backendName.nullish().describe('only backends after the one with this name'),
      limit: listLimit,
    }),
    result: z.array(backend),
  }),
  'backends.get': method({
    auth: 'admin-or-admin-token',
    summary: 'One backend, without its key.',
    isExtension: true,
    params: oneBackend,
    result: backend,
  }),
  'backends.kinds': method({
    auth: 'admin-or-admin-token',
    summary:
      'The kinds of backends in the order in which they are offered, with what a form says of them and asks for.',
    isExtension: true,
    params: z.object({}),
    result: z.array(kind),
  }),
  'backends.add': method({
    auth: 'admin-or-admin-token',
    summary: 'Register a backend; the answer has the result of its first probe.',
    isExtension: true,
    params: backendAdditionSchema,
    result: registered,
  }),
  'backends.update': method({
    auth: 'admin-or-admin-token',
    summary: 'Change the given fields of a backend; null removes.',
    isExtension: true,
    params: backendChangeSchema.extend(oneBackend.shape),
    result: registered,
  }),
  'backends.remove': method({
    auth: 'admin-or-admin-token',
    summary: 'Remove a backend.',
    isExtension: true,
    params: oneBackend,
    result: done,
  }),
  'backends.test': method({
    auth: 'admin-or-admin-token',
    summary:
      'Probe a backend and send it a short chat. With `backend`, one that is not registered is tried, and not registered by this.',
    isExtension: true,
    params: backendTestRequestSchema.extend({
      name: backendName,
      backend: backendAdditionSchema.omit({ name: true }).optional(),
    }),
    result: backendTestSchema,
  }),
};
