import type { IncomingMessage } from 'node:http';
import {
  ServiceError,
  videoRequestSchema,
  type VideoJobView,
  type videoSubmittedSchema,
} from '@model-gateway/contracts';
import { viewVideoJob, type VideoJobs } from '@model-gateway/inference';
import { Router } from 'express';
import { z } from 'zod';
import type { InferenceDoor } from '../inference-door.ts';
import type { KeyGate } from '../key-gate.ts';
import { onlyTheseMethods } from '../only-these-methods.ts';

interface VideoRoutesDependencies {
  readonly door: InferenceDoor;
  readonly keyGate: Pick<KeyGate, 'read'>;
  readonly videoJobs: Pick<VideoJobs, 'create' | 'get'>;
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;
const jobId = z.uuid();

/** `/v1/video/generations`: submitting a job and asking about it. Asking counts in no limit of the tier. */
export function createVideoRoutes({ door, keyGate, videoJobs }: VideoRoutesDependencies): Router {
  const routes = Router();
  routes
    .route('/v1/video/generations')
    .post(async (request, response) => {
      const rules = { isAlwaysPriced: true };
      const entered = await door.enter(request, response, videoRequestSchema, rules);
      if (entered === undefined) return;
      const { caller, body } = entered;
      const job = await videoJobs.create(caller, body, idempotencyKeyOf(request));
      const { id, object, model, status, created_at } = viewVideoJob(job);
      response.json({ id, object, model, status, created_at } satisfies z.input<
        typeof videoSubmittedSchema
      >);
    })
    .all(onlyTheseMethods('POST'));
  routes
    .route('/v1/video/generations/:id')
    .get(async (request, response) => {
      const entrant = await keyGate.read(request, response);
      if (entrant === undefined) return;
      const id = jobId.safeParse(request.params.id);
      if (!id.success) throw new ServiceError('bad_id', 'the id of a video job is a UUID');
      const job = await videoJobs.get(entrant.known.grant.holder.userId, id.data);
      response.json(viewVideoJob(job) satisfies VideoJobView);
    })
    .all(onlyTheseMethods('GET'));
  return routes;
}

/** What makes a repeated submission recognisable, where the caller says so. */
function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw new ServiceError('missing_fields', "'idempotency-key': at most 200 characters, no spaces");
}
