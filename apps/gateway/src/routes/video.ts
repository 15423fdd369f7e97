import type { IncomingMessage } from 'node:http';
import {
  ServiceError,
  type VideoRequest,
  type videoSubmittedSchema,
} from '@model-gateway/contracts';
import {
  EXPECTED_NOTHING,
  viewVideoJob,
  type VideoJob,
  type VideoJobs,
} from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import type { Response } from 'express';
import { z } from 'zod';
import { setLimitHeaders } from '../surface/limit-headers.ts';
import type { AuthorizedRequest } from '../authorized-request.ts';
import type { RequestAuthorizer } from '../request-authorizer.ts';
import type { KeyAuthenticator } from '../key-authenticator.ts';
import { inference } from '../operations/inference.ts';
import type { ServeOperation } from '../operations/serve-operation.ts';

interface VideoRoutesDependencies {
  readonly authorizer: RequestAuthorizer;
  readonly keyAuthenticator: Pick<KeyAuthenticator, 'authenticateOnly'>;
  readonly videoJobs: Pick<VideoJobs, 'create' | 'get' | 'estimateCost' | 'findRepeated'>;
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;
const jobId = z.uuid();

/** `/v1/video/generations`: submits a job and returns its state. Reads do not count in tier limits. */
export function serveVideos(serve: ServeOperation, dependencies: VideoRoutesDependencies): void {
  const { authorizer, keyAuthenticator, videoJobs } = dependencies;
  const { createVideo, getVideo } = inference;

  async function create(
    request: IncomingMessage,
    { caller, body, resolvedModel, reservation }: AuthorizedRequest<VideoRequest>,
  ): Promise<VideoJob> {
    try {
      const idempotencyKey = idempotencyKeyOf(request);
      const options = { reservation, idempotencyKey };
      return await videoJobs.create(caller, body, resolvedModel, options);
    } finally {
      reservation.end();
    }
  }

  function submitted(job: VideoJob): z.input<typeof videoSubmittedSchema> {
    const { id, object, model, status, created_at } = viewVideoJob(job);
    return { id, object, model, status, created_at };
  }

  /** The job may have reserved the rest of the quota, which must not refuse those who submit it again. */
  async function answerRepeated(
    request: IncomingMessage,
    response: Response,
    { userId, body }: { readonly userId: string; readonly body: VideoRequest },
  ): Promise<boolean> {
    const idempotencyKey = idempotencyKeyOf(request);
    const job =
      idempotencyKey === undefined
        ? undefined
        : await videoJobs.findRepeated(userId, idempotencyKey, body);
    if (job !== undefined) response.json(submitted(job));
    return job !== undefined;
  }

  serve(createVideo, async (request, response) => {
    const { schema } = createVideo.request;
    const authorized = await authorizer.authorizeRequest(request, response, schema, {
      expected: () => EXPECTED_NOTHING,
      answerRepeated: (repeated) => answerRepeated(request, response, repeated),
      job: async (body, resolvedModel) => ({
        id: newId(),
        costUsd: await videoJobs.estimateCost(body, resolvedModel),
      }),
    });
    if (authorized === undefined) return undefined;
    setLimitHeaders(response, authorized.limitHeaders);
    return submitted(await create(request, authorized));
  });
  serve(getVideo, async (request, response) => {
    const keyed = await keyAuthenticator.authenticateOnly(request, response);
    if (keyed === undefined) return undefined;
    const id = jobId.safeParse(request.params.id);
    if (!id.success) throw new ServiceError('bad_id', 'the id of a video job must be a UUID');
    const job = await videoJobs.get(keyed.known.grant.holder.userId, id.data);
    return viewVideoJob(job);
  });
}

/** The optional header that identifies a repeated submission. */
function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw new ServiceError(
    'missing_fields',
    "'idempotency-key' must have 1 to 200 ASCII characters without spaces",
  );
}
