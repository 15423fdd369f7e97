import { videoCostOf, type AdmissionStore, type VideoPricingStore } from '@model-gateway/billing';
import { ServiceError, sessionOwnerKey, type VideoRequest } from '@model-gateway/contracts';
import {
  canonicalJson,
  describeError,
  sha256Hex,
  type Channels,
  type Entries,
  type Log,
} from '@model-gateway/kernel';
import { jobEnd, type Reservation } from '../quota/reservation.ts';
import type { AllowsModel, Router } from '@model-gateway/router';
import { allowedBy } from '../chat/model-rules.ts';
import type { Caller } from '../chat/caller.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import { assertPaidFrames, assertPriceableExtra } from './priced-extra.ts';
import { videoShapeOf } from './upstream-video.ts';
import type { VideoJobStore } from './video-job-store.ts';
import type { VideoImage, VideoJob } from './video-job.ts';
import type { VideoNotifications } from './video-notifications.ts';

/** The video jobs of users: created here, executed by the workers. */
export interface VideoJobs {
  /** Queues a job that the caller is covered for; refuses one that no healthy backend could take. */
  create(
    caller: Caller,
    request: VideoRequest,
    resolvedModel: string,
    options: VideoCreation,
  ): Promise<VideoJob>;
  /** The price of a job in USD by the prices of now; rejects while they cannot be read, as no job can be stored then. */
  estimateCost(request: VideoRequest, resolvedModel: string): Promise<number>;
  /** The job of an earlier submission with the same key; rejects when that had another body. */
  findRepeated(
    userId: string,
    idempotencyKey: string,
    request: VideoRequest,
  ): Promise<VideoJob | undefined>;
  get(userId: string, id: string): Promise<VideoJob>;
  list(userId: string, countMax: number, before?: string): Promise<readonly VideoJob[]>;
  /** Canceling again changes nothing; a job that ended otherwise is refused. */
  cancel(userId: string, id: string): Promise<void>;
}

interface VideoCreation {
  /** Becomes the reservation of the job, which has its id. It ends if no job is created. */
  readonly reservation: Reservation;
  readonly idempotencyKey?: string | undefined;
}

interface VideoJobsDependencies {
  readonly store: VideoJobStore;
  readonly admission: Pick<AdmissionStore, 'endCall'>;
  readonly unfinishedPerUserMax: number;
  readonly router: Pick<Router, 'canServe' | 'targetsOf'>;
  readonly pricing: Pick<VideoPricingStore, 'find'>;
  readonly requests: Pick<RequestCounter, 'accepted'>;
  readonly notifications: Pick<VideoNotifications, 'cancelled'>;
  readonly channels: Pick<Channels, 'publish'>;
  readonly entries: Pick<Entries, 'put'>;
  readonly log: Log;
}

/** Announces new and cancelled jobs to workers. Workers also poll, in case they miss a message. */
export const VIDEO_QUEUED_CHANNEL = 'video:queued';

/** Longer than a job lasts. */
const OWNED_MS = 24 * 60 * 60 * 1000;

export function createVideoJobs(dependencies: VideoJobsDependencies): VideoJobs {
  const { store, pricing, admission, unfinishedPerUserMax } = dependencies;
  const { router, requests, notifications, channels, entries, log } = dependencies;

  /** The job is stored by now, so a failure here must not fail the request. */
  async function announce({ id, userId }: VideoJob): Promise<void> {
    try {
      await entries.put(sessionOwnerKey(id), userId, { expiresAfterMs: OWNED_MS });
      await channels.publish(VIDEO_QUEUED_CHANNEL, id);
    } catch (error) {
      log.warn({ job_id: id, reason: describeError(error) }, 'announcing a video job failed');
    }
  }

  /** A worker asks the upstream to cancel; without this message it does so a moment later. */
  async function announceCancelled(id: string): Promise<void> {
    try {
      await channels.publish(VIDEO_QUEUED_CHANNEL, id);
    } catch (error) {
      log.warn({ job_id: id, reason: describeError(error) }, 'announcing a cancellation failed');
    }
  }

  async function get(userId: string, id: string): Promise<VideoJob> {
    const job = await store.find(id);
    if (job === undefined || job.userId !== userId) {
      throw new ServiceError('no_job', 'video job not found');
    }
    return job;
  }

  /** A worker submits the job later, without the rules of its key. */
  function allowedModels(
    allows: AllowsModel,
    requested: string,
    aliasTarget: string,
  ): readonly string[] | null {
    const served = new Set(router.targetsOf(requested, aliasTarget).map(({ model }) => model));
    const allowed = [...served].filter((one) => allows({ requested, aliasTarget, served: one }));
    return allowed.length === served.size ? null : allowed;
  }

  async function add(
    { modelPolicy, ...payer }: Caller,
    request: VideoRequest,
    resolvedModel: string,
    { reservation, idempotencyKey }: VideoCreation,
  ): ReturnType<VideoJobStore['create']> {
    const { model, images = [], ...order } = request;
    const { provider } = order;
    assertPriceableExtra(order.extra);
    const price = await pricing.find(resolvedModel);
    if (price?.enabled === false)
      throw new ServiceError('model_not_allowed', `the model is switched off: ${model}`);
    assertPaidFrames(price, videoShapeOf(order));
    const allows = allowedBy({ modelPolicy });
    const options = { resolved: resolvedModel, capability: 'video', provider, allows } as const;
    if (!router.canServe(model, options)) {
      const message = `no healthy video-capable backend serves the model: ${model}`;
      throw new ServiceError('no_video_backend', message);
    }
    return store.create({
      id: reservation.id,
      unfinishedMax: unfinishedPerUserMax,
      payer,
      model,
      resolvedModel,
      order,
      images: images.map(decodeImage),
      idempotencyKey: idempotencyKey ?? null,
      orderHash: idempotencyKey === undefined ? null : orderHashOf(request),
      allowedModels: allows === undefined ? null : allowedModels(allows, model, resolvedModel),
    });
  }

  return {
    async create(caller, request, resolvedModel, options) {
      const { reservation } = options;
      try {
        const { job, isNew } = await add(caller, request, resolvedModel, options);
        if (!isNew) return job;
        reservation.endCall();
        requests.accepted();
        await announce(job);
        return job;
      } finally {
        reservation.end();
      }
    },
    estimateCost: async ({ model: _model, images: _images, ...order }, resolvedModel) =>
      videoCostOf(await pricing.find(resolvedModel), videoShapeOf(order)),
    findRepeated: (userId, idempotencyKey, request) =>
      store.findRepeated(userId, { idempotencyKey, orderHash: orderHashOf(request) }),
    get,
    list: (userId, countMax, before) => store.list(userId, countMax, before),
    async cancel(userId, id) {
      await get(userId, id);
      if (await store.cancel(id)) {
        await notifications.cancelled(id);
        await announceCancelled(id);
        // What the upstream may still charge stays reserved until it has answered a worker.
        const work = await store.findWork(id);
        if (work?.cancelling === null) admission.endCall(jobEnd(work));
        return;
      }
      const { status } = await get(userId, id);
      if (status === 'cancelled') return;
      throw new ServiceError('job_ended', `the video job is ${status} already`);
    },
  };
}

/** The same for equal bodies, whatever the order of their fields. */
const orderHashOf = (request: VideoRequest): string =>
  sha256Hex(canonicalJson(request) ?? JSON.stringify(request));

type RequestedImage = NonNullable<VideoRequest['images']>[number];

const decodeImage = ({ data_base64, mime_type }: RequestedImage): VideoImage => ({
  mimeType: mime_type.toLowerCase(),
  data: Buffer.from(data_base64, 'base64'),
});
