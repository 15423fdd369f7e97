import type { IncomingMessage } from 'node:http';
import {
  ServiceError,
  type VideoRequest,
  type videoSubmittedSchema,
} from '@model-gateway/contracts';
import {
  EXPECTED_NOTHING,
  viewVideoJob,
  type AdmittedCall,
  type VideoJob,
  type VideoJobs,
} from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import type { Response } from 'express';
import { z } from 'zod';
import type { HttpAdmission } from '../surface/http-admission.ts';
import type { HttpCall, HttpCalls } from '../surface/http-call.ts';
import { setLimitHeaders } from '../surface/limit-headers.ts';
import { inference } from '../operations/inference.ts';
import type { ServeOperation } from '../operations/serve-operation.ts';

interface VideoRoutesDependencies {
  readonly calls: HttpCalls;
  readonly admission: HttpAdmission;
  readonly videoJobs: Pick<VideoJobs, 'create' | 'get' | 'estimateCost' | 'findRepeated'>;
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;
const jobId = z.uuid();

/** `/v1/video/generations`: submits a job and returns its state. Reads do not count in tier limits. */
export function serveVideos(serve: ServeOperation, dependencies: VideoRoutesDependencies): void {
  const { calls, admission, videoJobs } = dependencies;
  const { createVideo, getVideo } = inference;

  async function create(
    request: IncomingMessage,
    { caller, body, resolvedModel, reservation }: AdmittedCall<VideoRequest>,
  ): Promise<VideoJob> {
    try {
      const idempotencyKey = idempotencyKeyOf(request);
      const options = { reservation, idempotencyKey };
      return await videoJobs.create(caller, body, resolvedModel, options);
    } finally {
      reservation.end();
    }
  }

  function answer(
    call: HttpCall,
    response: Response,
    job: VideoJob,
  ): z.input<typeof videoSubmittedSchema> {
    const { id, object, model, status, created_at } = viewVideoJob(job);
    const submitted = { id, object, model, status, created_at };
    setLimitHeaders(response, call.headers);
    call.answer.saw(JSON.stringify(submitted));
    return submitted;
  }

  /** The job may have reserved the rest of the quota, which must not refuse those who submit it again. */
  async function answerRepeated(
    call: HttpCall,
    response: Response,
    { userId, body }: { readonly userId: string; readonly body: VideoRequest },
  ): Promise<boolean> {
    const idempotencyKey = idempotencyKeyOf(call.request);
    const job =
      idempotencyKey === undefined
        ? undefined
        : await videoJobs.findRepeated(userId, idempotencyKey, body);
    if (job === undefined) return false;
    response.json(answer(call, response, job));
    return true;
  }

  serve(createVideo, (request, response) =>
    calls.run(request, response, async (call) => {
      const admitted = await admission.admit(call, createVideo.request.schema, {
        isOwn: true,
        expected: () => EXPECTED_NOTHING,
        answerRepeated: (body, { caller: { userId } }) =>
          answerRepeated(call, response, { userId, body }),
        job: async (body, resolvedModel) => ({
          id: newId(),
          costUsd: await videoJobs.estimateCost(body, resolvedModel),
        }),
      });
      if (admitted === undefined) return undefined;
      const job = await create(request, admitted);
      return answer(call, response, job);
    }),
  );
  serve(getVideo, (request, response) =>
    calls.run(request, response, async (call) => {
      const { caller } = await call.authenticate();
      const id = jobId.safeParse(request.params.id);
      if (!id.success) throw new ServiceError('bad_id', 'the id of a video job must be a UUID');
      const job = await videoJobs.get(caller.userId, id.data);
      setLimitHeaders(response, call.headers);
      return viewVideoJob(job);
    }),
  );
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
